// SPDX-License-Identifier: GPL-2.0-only
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "agent_state.hpp"
#include "bindings/plan_of.hpp"
#include "env/bottleneck_driver.hpp"
#include "env/switch_driver.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace lcca_ns3 {
namespace {

template <class T>
T get(const nb::dict& dict, const char* key) {
  return nb::cast<T>(dict[key]);
}

remy_plus::Agent agent_of(const nb::dict& d) {
  return remy_plus::bindings::make_agent(
      get<std::vector<std::string>>(d, "signals"), get<std::size_t>(d, "history"), get<double>(d, "rtts"),
      get<bool>(d, "smallest_rtt"), false, get<std::string>(d, "steering"), get<double>(d, "multiple"),
      get<double>(d, "increment"), get<double>(d, "pacing"), get<double>(d, "initial"), get<double>(d, "smallest"),
      get<double>(d, "largest"), get<std::vector<std::tuple<double, double, double>>>(d, "table"),
      get<nb::object>(d, "law"));
}

remy_plus::Reward reward_of(const nb::dict& d) {
  return remy_plus::bindings::make_reward(get<std::string>(d, "kind"), get<double>(d, "throughput_weight"),
                                          get<double>(d, "delay_weight"), get<double>(d, "interval"),
                                          get<double>(d, "aurora_second"));
}

// (whether a decision is due, what the agent sees, reward, how the flow ended: 0, 1 flow, 2 trial; µs)
nb::tuple state_of(const BottleneckDriver& driver) {
  nb::list view;
  for (const float x : driver.view()) view.append(x);
  return nb::make_tuple(driver.ready(), view, driver.reward(), static_cast<int>(driver.ending()), driver.now());
}

nb::tuple reading(const SwitchDriver& driver, const SwitchReading& r) {
  return nb::make_tuple(r.time, r.queue_mean, r.sent_bytes, r.marked, driver.now(), driver.over());
}

}  // namespace

void bind_drivers(nb::module_& m) {
  nb::class_<BottleneckDriver>(m, "BottleneckDriver", "A trial in which an agent steers the first flow.")
      .def(
          "__init__",
          [](BottleneckDriver* self, const nb::dict& plan, const nb::dict& agent, const nb::dict& reward,
             double base_delay) {
            new (self) BottleneckDriver(plan_of(plan), agent_of(agent), reward_of(reward), base_delay, keep_going);
          },
          "plan"_a, "agent"_a, "reward"_a, "base_delay"_a)
      .def(
          "start",
          [](BottleneckDriver& self) {
            self.start();
            return state_of(self);
          },
          "Plays to the flow's start: (due, observation, reward, ending, now).")
      .def(
          "act",
          [](BottleneckDriver& self, const std::vector<float>& action) {
            self.act(action);
            return state_of(self);
          },
          "action"_a, "Acts, and plays on to the next decision or the flow's end.");
  nb::class_<SwitchDriver>(m, "SwitchDriver", "A trial with a queue whose marking is set from outside.")
      .def(
          "__init__",
          [](SwitchDriver* self, const nb::dict& plan) { new (self) SwitchDriver(plan_of(plan), keep_going); },
          "plan"_a)
      .def("start", &SwitchDriver::start)
      .def(
          "advance",
          [](SwitchDriver& self, double min_k, double max_k, double max_p, double us) {
            return reading(self, self.advance({min_k, max_k, max_p}, us));
          },
          "min_k"_a, "max_k"_a, "max_p"_a, "us"_a,
          "Plays an interval: (its length, mean queue, bytes sent, packets marked, now, over).")
      .def(
          "collect",
          [](SwitchDriver& self) {
            nb::list lengths;
            for (const double ns : self.lengths()) lengths.append(ns);
            nb::dict out = dict_of(self.collect());
            out["queue_ns"] = lengths;
            return out;
          },
          "At the end, once: the trial's record, and for how many ns so many packets waited.");
}

}  // namespace lcca_ns3
