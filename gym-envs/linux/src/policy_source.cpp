// A policy of the engine over UDP: an ACK for each packet, new numbers for what is sent again.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <variant>

#include "clock.hpp"
#include "remy_plus/core/packet.hpp"
#include "remy_plus/headers/reader.hpp"
#include "remy_plus/signals/memory.hpp"
#include "sources.hpp"
#include "wire.hpp"

namespace lcca_linux {

namespace {

using remy_plus::never;

// Silence after which all that is under way counts as lost: so many of the longest round trips so far, at the least so
// many µs of real time.
constexpr double silent_trips = 4, least_silence = 50e3;

class PolicySource final : public Source {
 public:
  PolicySource(const Plan& plan, std::size_t sender, const remy_plus::Policy& policy, int poller,
               const std::int64_t& begin)
      : plan_(plan), sender_(sender), policy_(policy), poller_(poller), begin_(begin) {
    std::visit(
        [&](const auto& kind) {
          wanted_ |= kind.wanted;
          rule_hits_.assign(kind.rules(), 0);
        },
        policy_);
    if (!plan.header) return;
    header_.emplace(*plan.header, plan.wire);
    reader_.emplace(*plan.header);
  }
  ~PolicySource() override {
    if (socket_ >= 0) close(socket_);
  }

  void prepare(std::size_t) override {}
  bool ready() override { return true; }

  void begin(std::size_t channel, std::uint64_t length, double now) override {
    if (socket_ >= 0) close(socket_);
    socket_ = bound_socket(SOCK_DGRAM, channel);
    connect_to_receiver(socket_);
    watch(poller_, socket_, sender_, EPOLLIN);
    ++flow_;
    on_ = true;
    wanting_ = length_ = length;
    delivered_ = 0;
    memory_.reset(static_cast<std::uint32_t>(sent_));
    acknowledged_ = sent_ - 1;
    longest_ = plan_.network.rtt;
    heard_ = now;
    last_send_ = -HUGE_VAL;
    trip_sum_ = 0;
    trips_ = 0;
    control_ = {};
    std::visit(
        [&](const auto& kind) {
          kind.start(control_, memory_, rule_hits_);
          kind.unblock(control_, memory_, rule_hits_);
        },
        policy_);
  }

  void end(double) override { on_ = false; }

  double act(double now) override {
    const double silence = std::max(least_silence / plan_.options.time_scale, silent_trips * longest_);
    if (under_way() > 0 && now > heard_ + silence) lose_until(sent_ - 1, now);
    while (on_ && wants() && window_open()) {
      const double due = last_send_ + control_.gap;
      if (due > now) return std::min(due, heard_ + silence);
      // Late by less than a gap, the next one is due as if this one had gone in time.
      last_send_ = now - due < control_.gap ? due : now;
      send_packet();
      if (under_way() == 1) heard_ = now;
    }
    return under_way() > 0 ? heard_ + silence : never;
  }

  void hear(int, std::uint32_t, double) override {
    std::array<std::uint8_t, 2048> packet;
    while (recv(socket_, packet.data(), packet.size(), MSG_DONTWAIT) >= static_cast<ssize_t>(sizeof(AckHeader))) {
      const double now = us(clock_ns());
      learn(*reinterpret_cast<const AckHeader*>(packet.data()), packet.data() + sizeof(AckHeader), now);
      act(now);
    }
  }

  bool complete() const override { return length_ > 0 && delivered_ >= length_; }

  void note(Row& row) const override {
    row.stalled = !complete() && control_.window < 1 && under_way() == 0;
    row.trips = trips_;
    row.trip_sum = trip_sum_;
  }

 private:
  double us(std::int64_t ns) const { return plan_.us(ns - begin_); }
  std::int64_t under_way() const { return sent_ - 1 - acknowledged_; }
  bool wants() const { return length_ == 0 || wanting_ > 0; }
  bool window_open() const {
    return static_cast<double>(sent_) < static_cast<double>(acknowledged_ + 1) + control_.window;
  }

  void send_packet() {
    std::array<std::uint8_t, 2048> packet{};
    const DataHeader header{static_cast<std::uint32_t>(sent_), 0, clock_ns()};
    *reinterpret_cast<DataHeader*>(packet.data()) = header;
    if (header_) {
      header_->depart(draws(sent_));
      header_->write(packet.data() + sizeof header);
    }
    send(socket_, packet.data(), plan_.udp_payload(), MSG_DONTWAIT);
    ++sent_;
    if (length_ > 0) --wanting_;
  }

  // The link keeps packets in order: what an ACK leaves out is lost.
  void lose_until(std::int64_t number, double now) {
    if (length_ > 0) wanting_ += static_cast<std::uint64_t>(number - acknowledged_);
    acknowledged_ = number;
    heard_ = now;
  }

  remy_plus::Draws draws(std::int64_t number) const {
    return {plan_.seed, plan_.network.id, sender_, static_cast<std::uint64_t>(number)};
  }

  // What a header that comes back says.
  struct Told : remy_plus::StampsOnly {
    const remy_plus::Seen& seen;
    bool as_it_is;  // queue, link and spare capacity are those without a header
    bool plain() const { return as_it_is; }
    const remy_plus::Seen& look(const remy_plus::Packet&) const { return seen; }
  };

  const remy_plus::Seen& read(const AckHeader& ack, const std::uint8_t* header) {
    static const remy_plus::Seen nothing;
    if (!ack.reflects) return nothing;
    header_->depart(draws(ack.number));
    header_->read(header);
    header_->carried.hops = 1;
    header_->carried.known = ~std::uint64_t{0};
    return reader_->read(flow_, header_->carried, header_->words.data());
  }

  void learn(const AckHeader& ack, const std::uint8_t* header, double now) {
    const auto number = static_cast<std::int64_t>(ack.number);
    if (number <= acknowledged_) return;  // it counts as lost already
    remy_plus::Packet packet{};
    packet.sent = us(ack.sent_at);
    packet.arrives = us(ack.arrived_at);
    packet.sequence = static_cast<std::uint32_t>(number);
    packet.flow = flow_;
    const std::int64_t before = acknowledged_;
    lose_until(number - 1, now);
    longest_ = std::max(longest_, now - packet.sent);
    trip_sum_ += now - packet.sent;
    ++trips_;
    if (header_) {
      Told net{{plan_.network.link_rate}, read(ack, header), false};
      memory_.receive(net, packet, now, before, wanted_);
    } else {
      memory_.receive_plain(packet, now, before, wanted_, plan_.network.link_rate);
    }
    acknowledged_ = number;
    ++delivered_;
    std::visit(
        [&](const auto& kind) {
          kind.feedback(control_, memory_, {number, sent_, true, now}, rule_hits_);
          if (on_) kind.unblock(control_, memory_, rule_hits_);
        },
        policy_);
  }

  const Plan& plan_;
  std::size_t sender_;
  remy_plus::Policy policy_;
  int poller_, socket_ = -1;
  const std::int64_t& begin_;
  remy_plus::SignalMask wanted_ = remy_plus::ack_signals;
  std::optional<Header> header_;
  std::optional<remy_plus::Reader> reader_;
  remy_plus::Memory memory_;
  remy_plus::Control control_;
  remy_plus::RuleHits rule_hits_;
  std::uint32_t flow_ = UINT32_MAX;
  bool on_ = false;
  std::uint64_t length_ = 0, wanting_ = 0, delivered_ = 0;  // packets of the flow
  std::int64_t sent_ = 0, acknowledged_ = -1;
  double last_send_ = 0, heard_ = 0, longest_ = 0;  // µs
  double trip_sum_ = 0;                             // µs
  std::uint64_t trips_ = 0;
};

}  // namespace

std::unique_ptr<Source> policy_source(const Plan& plan, std::size_t sender, const remy_plus::Policy& policy, int poller,
                                      const std::int64_t& begin) {
  return std::make_unique<PolicySource>(plan, sender, policy, poller, begin);
}

}  // namespace lcca_linux
