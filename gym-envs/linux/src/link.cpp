#include "link.hpp"

#include <linux/if_packet.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "clock.hpp"
#include "remy_plus/core/random.hpp"

namespace lcca_linux {

namespace {

constexpr std::size_t ethernet = 14;

std::uint16_t word_at(const std::uint8_t* bytes) { return static_cast<std::uint16_t>(bytes[0] << 8 | bytes[1]); }

// What the link looks at of a frame: none if it is neither TCP nor UDP over IPv4.
struct Look {
  bool udp;
  std::size_t bytes;       // of the IP packet
  std::size_t payload;     // of TCP or UDP
  std::uint16_t from, to;  // ports
};

std::optional<Look> look_at(const std::uint8_t* frame, std::size_t size) {
  const std::uint8_t* ip = frame + ethernet;
  if (size < ethernet + 28 || ip[0] >> 4 != 4) return {};
  const std::size_t head = 4u * (ip[0] & 15), bytes = word_at(ip + 2);
  const std::uint8_t* inner = ip + head;
  const bool tcp = ip[9] == 6;
  if ((!tcp && ip[9] != 17) || size < ethernet + head + (tcp ? 20 : 8)) return {};
  const std::size_t own = tcp ? 4u * (inner[12] >> 4) : 8;
  return Look{!tcp, bytes, bytes > head + own ? bytes - head - own : 0, word_at(inner), word_at(inner + 2)};
}

// ns, when the kernel had the packet.
std::int64_t stamp_of(msghdr& message, std::int64_t otherwise) {
  for (cmsghdr* each = CMSG_FIRSTHDR(&message); each; each = CMSG_NXTHDR(&message, each))
    if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SCM_TIMESTAMPNS) {
      timespec at{};
      std::memcpy(&at, CMSG_DATA(each), sizeof at);
      return at.tv_sec * std::int64_t{1'000'000'000} + at.tv_nsec;
    }
  return otherwise;
}

}  // namespace

Link::Link(const Plan& plan, int to_sender, int to_receiver, const std::atomic<std::int64_t>& begin,
           const std::atomic<int>& flows)
    : plan_(plan),
      ports_{plan.senders()},
      to_sender_(to_sender),
      to_receiver_(to_receiver),
      begin_(begin),
      flows_(flows),
      there_(plan.ns(plan.network.rtt / 2)),
      back_(plan.ns(plan.network.rtt) - there_),
      ns_per_byte_(plan.ns_per_byte()),
      log_keep_(remy_plus::portable_log(1 - plan.network.loss)) {
  late_.reserve(1 << 20);
  if (!plan.header) return;
  hop_.emplace(*plan.header, remy_plus::Model{}, plan.network.link_rate, plan.network.rtt);
  header_.emplace(*plan.header, plan.wire);
}

void Link::run(const std::atomic<bool>& stopped) {
  while (!stopped.load(std::memory_order_relaxed)) {
    while (take(to_sender_, true)) {
    }
    while (take(to_receiver_, false)) {
    }
    const std::int64_t now = clock_ns();
    settle(now);
    put(forward_, to_receiver_, now);
    put(backward_, to_sender_, now);
    std::int64_t next = now + 20'000'000;
    for (const auto* line : {&forward_, &backward_})
      if (!line->empty()) next = std::min(next, line->front().due);
    const std::int64_t wait = next - clock_ns() - spin_ns;
    if (wait <= 0) continue;
    std::array<pollfd, 2> both{pollfd{to_sender_, POLLIN, 0}, pollfd{to_receiver_, POLLIN, 0}};
    const timespec longest = {wait / 1'000'000'000, wait % 1'000'000'000};
    ppoll(both.data(), both.size(), &longest, nullptr);
  }
  settle(end_);
}

// Takes a frame that has come, if there is one.
bool Link::take(int socket, bool forward) {
  std::deque<Frame>& line = forward ? forward_ : backward_;
  Frame& frame = line.emplace_back();
  iovec part{frame.data.data(), frame_bytes};
  alignas(cmsghdr) std::array<char, 64> control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = recvmsg(socket, &message, MSG_DONTWAIT);
  if (got <= 0) {
    line.pop_back();
    return false;
  }
  frame.bytes = static_cast<std::uint32_t>(got);
  const std::int64_t came = stamp_of(message, clock_ns());
  if (forward)
    offer(frame, came);
  else
    frame.due = came + back_;
  return true;
}

bool Link::counts(std::int64_t came) const {
  const std::int64_t begin = begin_.load(std::memory_order_relaxed);
  return begin > 0 && came >= begin && came < begin + plan_.ns(plan_.duration);
}

// The last frame of the forward line comes to the queue.
void Link::offer(Frame& frame, std::int64_t came) {
  const auto look = look_at(frame.data.data(), frame.bytes);
  if (!look) return forward_.pop_back();
  settle(came);
  const bool counted = counts(came) && look->payload > 0 && look->from >= Ports::first;
  const std::size_t channel = static_cast<std::size_t>(look->from - Ports::first);
  Passage* passage = counted ? &of(channel) : nullptr;
  if (passage) ++passage->sent;
  const bool busy = free_at_ > came;
  const std::size_t waiting = queue_.size();  // those whose service has begun are gone
  if (busy && static_cast<double>(waiting) >= plan_.network.buffer) {
    if (passage) {
      ++passage->dropped;
      if (passage->sent - 1 == static_cast<std::uint64_t>(passage->next_loss)) draw_loss(*passage, channel);
    }
    return forward_.pop_back();
  }
  const std::int64_t start = busy ? free_at_ : came;
  const double service = static_cast<double>(look->bytes) * ns_per_byte_;
  free_at_ = start + std::llround(service);
  const std::size_t sender = ports_.sender(channel);
  Waiting packet{came, start, static_cast<std::uint32_t>(look->bytes), sender, nullptr, 0, look->payload > 0};
  if (hop_ && look->udp && look->payload >= sizeof(DataHeader) + plan_.wire.room()) {
    std::uint8_t* data = frame.data.data() + frame.bytes - look->payload;
    packet.number = reinterpret_cast<const DataHeader*>(data)->number;
    packet.header = data + sizeof(DataHeader);
  }
  if (hop_) stamp(packet, false);
  queued_now_ += packet.bytes;
  queue_.push_back(packet);
  frame.due = free_at_ + there_;
  if (counts(came)) {
    ++accepted_;
    end_ = begin_.load(std::memory_order_relaxed) + plan_.ns(plan_.duration);
    waited_ += static_cast<double>(std::min(start, end_) - came);
    busy_ += std::max(0.0, std::min(service, static_cast<double>(end_ - start)));
  }
  if (!passage) return;
  if (loses(*passage, channel)) {
    ++passage->lost;
    if (!queue_.empty()) queue_.back().header = nullptr;
    return forward_.pop_back();
  }
  if (frame.due + back_ > end_) return;  // its ACK comes home after the trial
  const double delay = plan_.us(frame.due + back_ - came);
  passage->delay_sum += delay;
  ++passage->samples;
  if (plan_.options.keep_delays) passage->delays.push_back(static_cast<float>(delay));
}

// Whose service has begun by now does not wait any more.
void Link::settle(std::int64_t now) {
  while (!queue_.empty() && queue_.front().start <= now) {
    const Waiting packet = queue_.front();
    queue_.pop_front();
    queued_now_ -= packet.bytes;
    if (hop_) stamp(packet, true);
    if (plan_.options.keep_delays && begin_.load(std::memory_order_relaxed) > 0)
      queued_.push_back(static_cast<std::uint32_t>(queue_.size()));
  }
}

// The hop measures every packet, and writes into those that have the header: as they come, and as they leave the queue.
void Link::stamp(const Waiting& packet, bool leaves) {
  for (; known_flows_ < flows_.load(std::memory_order_relaxed); ++known_flows_) hop_->join();
  for (; known_flows_ > flows_.load(std::memory_order_relaxed); --known_flows_) hop_->leave();
  const std::int64_t begin = begin_.load(std::memory_order_relaxed);
  remy_plus::Moment moment;
  moment.arrived = plan_.us(packet.came - begin);
  moment.start = plan_.us(packet.start - begin);
  moment.size = static_cast<double>(packet.bytes) / plan_.options.packet_bytes;
  moment.service = moment.size / plan_.network.link_rate;
  moment.queue_packets = static_cast<double>(queue_.size());
  moment.queue_bytes = static_cast<double>(queued_now_);
  moment.bytes = packet.bytes;
  moment.data = packet.data;
  const remy_plus::Draws draws{plan_.seed, plan_.network.id, packet.sender, packet.number};
  if (packet.header) {
    header_->depart(draws);
    header_->read(packet.header);
  }
  remy_plus::Carried* carried = packet.header && header_->carried.there ? &header_->carried : nullptr;
  if (leaves)
    hop_->dequeue(moment, draws, carried, header_->words.data());
  else
    hop_->enqueue(moment, draws, carried, header_->words.data());
  if (carried) header_->write(packet.header);
}

void Link::put(std::deque<Frame>& line, int socket, std::int64_t now) {
  while (!line.empty() && line.front().due <= now) {
    const Frame& frame = line.front();
    send(socket, frame.data.data(), frame.bytes, MSG_DONTWAIT);
    const std::int64_t sent = clock_ns();
    if (begin_.load(std::memory_order_relaxed) > 0) late_.push_back(static_cast<float>(sent - frame.due) / 1000);
    line.pop_front();
  }
}

Passage& Link::of(std::size_t channel) {
  while (passages_.size() <= channel) {
    const std::size_t next = passages_.size();
    losses_.emplace_back(plan_.seed, plan_.network.id, remy_plus::Component::loss, ports_.sender(next),
                         ports_.number(next));
    draw_loss(passages_.emplace_back(), next);
  }
  return passages_[channel];
}

// Losses are those of the engine: geometric gaps between packets of a flow, drawn in order.
bool Link::loses(Passage& passage, std::size_t channel) {
  if (static_cast<std::uint64_t>(passage.next_loss) != passage.sent - 1) return false;
  draw_loss(passage, channel);
  return true;
}

void Link::draw_loss(Passage& passage, std::size_t channel) {
  passage.next_loss = -1;
  if (!(log_keep_ < 0)) return;
  const double gap = remy_plus::portable_log(losses_[channel].uniform()) / log_keep_;
  if (gap < 1e15) passage.next_loss = static_cast<std::int64_t>(passage.sent) + static_cast<std::int64_t>(gap);
}

void Link::fill(remy_plus::TrialTotals& totals) const {
  const double whole = static_cast<double>(plan_.ns(plan_.duration));
  totals.utilisation = busy_ / whole;
  totals.queue_mean = waited_ / whole;
  totals.hops = accepted_;
  if (queued_.empty()) return;
  std::vector<std::uint32_t> sorted = queued_;
  const auto at = sorted.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(sorted.size() - 1));
  std::nth_element(sorted.begin(), at, sorted.end());
  totals.queue_p99 = *at;
}

Lateness Link::lateness() {
  if (late_.empty()) return {};
  std::sort(late_.begin(), late_.end());
  const auto at = [&](double q) {
    return double{late_[static_cast<std::size_t>(q * static_cast<double>(late_.size() - 1))]};
  };
  return {at(0.5), at(0.99), at(1)};
}

std::uint64_t Link::missed() const {
  std::uint64_t missed = 0;
  for (const int each : {to_sender_, to_receiver_}) {
    tpacket_stats counts{};
    socklen_t size = sizeof counts;
    if (getsockopt(each, SOL_PACKET, PACKET_STATISTICS, &counts, &size) == 0) missed += counts.tp_drops;
  }
  return missed;
}

}  // namespace lcca_linux
