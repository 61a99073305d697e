// A congestion control that is a class in Python; lcca.remy_plus.policies.python_control makes and checks it.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "remy_plus/policies/foreign.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;

// In one trial. Whoever calls it may hold Python's lock or not, and so may whoever lets go of it.
class PythonControl final : public ForeignControl {
 public:
  PythonControl(nb::object control, std::vector<Signal> signals)
      : control_(std::move(control)),
        scale_(nb::cast<double>(control_.attr("time_scale"))),
        signals_(std::move(signals)) {}
  PythonControl(const PythonControl&) = delete;
  PythonControl& operator=(const PythonControl&) = delete;
  ~PythonControl() override {
    const nb::gil_scoped_acquire gil;
    control_.reset();
    begin_.reset();
  }

  const nb::object& control() const { return control_; }

  void start(Control& steered) const override {
    const nb::gil_scoped_acquire gil;
    if (!begin_.is_valid()) begin_ = control_.attr("trial")();
    const auto [on_ack, said] = nb::cast<std::tuple<nb::object, nb::object>>(begin_());
    steered.mind = std::make_unique<Flow>(on_ack);
    steer(steered, said);
  }

  void on_ack(Control& steered, const Signals& signals, const News& news) const override {
    const nb::gil_scoped_acquire gil;
    steer(steered, static_cast<const Flow&>(*steered.mind).on_ack(told(signals, news)));
  }

  std::shared_ptr<const ForeignControl> fresh() const override {
    const nb::gil_scoped_acquire gil;
    return std::make_shared<const PythonControl>(control_, signals_);
  }

 private:
  struct Flow final : Mind {
    explicit Flow(nb::object call) : on_ack(std::move(call)) {}
    ~Flow() override {
      const nb::gil_scoped_acquire gil;
      on_ack.reset();
    }
    nb::object on_ack;
  };

  nb::tuple told(const Signals& signals, const News& news) const {
    nb::tuple values = nb::steal<nb::tuple>(PyTuple_New(static_cast<Py_ssize_t>(7 + signals_.size())));
    if (!values.is_valid()) throw nb::python_error();
    Py_ssize_t at = 0;
    const auto add = [&](PyObject* value) { PyTuple_SET_ITEM(values.ptr(), at++, value); };
    for (const double each : {news.now, news.rtt, news.smallest_rtt}) add(PyFloat_FromDouble(each * scale_));
    for (const std::int64_t each : {news.sequence, news.sent, news.lost}) add(PyLong_FromLongLong(each));
    add(PyBool_FromLong(news.late));
    for (const Signal each : signals_) add(PyFloat_FromDouble(in_us(each, signals[each])));
    return values;
  }

  double in_us(Signal signal, double value) const {
    const int power = power_of_time(signal);
    return power == 0 ? value : power > 0 ? value * scale_ : value / scale_;
  }

  void steer(Control& steered, const nb::object& said) const {
    const auto [window, gap] = nb::cast<std::tuple<double, double>>(said);
    steered.window = window;
    steered.gap = gap / scale_;
  }

  nb::object control_;
  mutable nb::object begin_;  // of flows, from the first one on
  double scale_;              // µs that a µs of the trial stands for
  std::vector<Signal> signals_;
};

inline Foreign foreign_of(const nb::object& control) {
  Foreign policy;
  std::vector<Signal> signals;
  for (const std::string& name : nb::cast<std::vector<std::string>>(control.attr("signals")))
    signals.push_back(signal_by_name(name));
  for (const Signal each : signals) policy.wanted |= bit(each);
  policy.late = nb::cast<bool>(control.attr("late"));
  policy.control = std::make_shared<const PythonControl>(control, std::move(signals));
  return policy;
}

}  // namespace remy_plus::bindings
