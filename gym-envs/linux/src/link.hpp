// The link between the two hosts: a drop-tail queue served at the link's rate, and delays both ways. When a packet
// leaves is computed from when it came, so lateness never adds up; how late each was is kept.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "plan.hpp"

namespace lcca_linux {

// What the link did to the packets with payload of a flow.
struct Passage {
  std::uint64_t sent = 0, dropped = 0, lost = 0, acks_dropped = 0, samples = 0;
  double delay_sum = 0;  // µs: waiting, service, both delays
  std::vector<float> delays;
  std::int64_t next_loss = -1;
};

class Link {
 public:
  // Packet sockets of its two ends. `begin` (ns): what comes before is carried but not counted; 0 until it is known.
  // `flows`: that are on now, as the senders say.
  Link(const Plan& plan, int to_sender, int to_receiver, const std::atomic<std::int64_t>& begin,
       const std::atomic<int>& flows);

  // Carries packets until it is stopped.
  void run(const std::atomic<bool>& stopped);

  // --- of a trial that is over
  const Passage& passage(std::size_t channel) const {
    static const Passage none;
    return channel < passages_.size() ? passages_[channel] : none;
  }
  void fill(remy_plus::TrialTotals& totals) const;
  Lateness lateness();
  std::uint64_t missed() const;

 private:
  static constexpr std::size_t frame_bytes = 2048;

  struct Frame {
    std::int64_t due = 0;  // ns, when it is put on the other device
    std::uint32_t bytes = 0;
    std::array<std::uint8_t, frame_bytes> data;
  };
  // Of the packets in the queue and in service.
  struct Waiting {
    std::int64_t came, start;  // ns; of service
    std::uint32_t bytes;
    std::size_t sender;
    std::uint8_t* header;  // null: it has none, or is lost
    std::uint32_t number;  // of the packet
    bool data;
  };

  bool take(int socket, bool forward);
  void offer(Frame& frame, std::int64_t came);
  void settle(std::int64_t now);
  void stamp(const Waiting& packet, bool leaves);
  void put(std::deque<Frame>& line, int socket, std::int64_t now);
  bool counts(std::int64_t came) const;
  bool loses(Passage& passage, std::size_t channel);
  void draw_loss(Passage& passage, std::size_t channel);
  Passage& of(std::size_t channel);

  const Plan& plan_;
  Ports ports_;
  int to_sender_, to_receiver_;
  const std::atomic<std::int64_t>& begin_;
  const std::atomic<int>& flows_;
  std::optional<remy_plus::Hop> hop_;
  std::optional<Header> header_;
  int known_flows_ = 0;           // to the hop
  std::uint64_t queued_now_ = 0;  // bytes
  std::int64_t there_, back_;     // ns, delays
  std::int64_t end_ = INT64_MAX;
  double ns_per_byte_, log_keep_;
  std::deque<Frame> forward_, backward_;
  std::deque<Waiting> queue_;
  std::int64_t free_at_ = 0;
  std::vector<Passage> passages_;
  std::vector<remy_plus::Stream> losses_;  // by channel
  std::vector<float> late_;                // µs
  std::vector<std::uint32_t> queued_;      // behind each packet as its service began, when delays are kept
  double waited_ = 0, busy_ = 0;           // ns
  std::uint64_t accepted_ = 0;
};

}  // namespace lcca_linux
