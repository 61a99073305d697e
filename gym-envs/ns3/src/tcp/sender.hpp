// SPDX-License-Identifier: GPL-2.0-only
// What a trial wants of a sender, beside that it drives a socket.
#pragma once

#include <functional>

#include "tcp/marked_socket.hpp"

namespace lcca_ns3 {

class Sender : public Driver {
 public:
  virtual void attach(ns3::Ptr<MarkedSocket> socket) = 0;
  virtual void finish(double end) = 0;  // µs, the end of the trial
  virtual double first_on() const = 0;  // µs
  // Called with every echo (queue stamps are counted by the trial).
  virtual void watch(std::function<void(const Mark::Fields&)> watcher) = 0;
};

}  // namespace lcca_ns3
