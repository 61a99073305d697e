// Numbers by name, from Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <map>
#include <string>

#include "remy_plus/fabric/transport/numbers.hpp"
#include "remy_plus/fabric/units.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;

class Named : public fabric::Numbers {
 public:
  Named(const nb::dict& values, std::string what) : Numbers(from(values), std::move(what)) {}

 private:
  static std::map<std::string, double> from(const nb::dict& values) {
    std::map<std::string, double> found;
    for (const auto [key, value] : values) found[nb::cast<std::string>(key)] = nb::cast<double>(value);
    return found;
  }
};

inline constexpr double ns = fabric::nanosecond, us = fabric::microsecond, per_ms = 1e-9;
inline constexpr double per_mb = 1e-6;  // to bytes

}  // namespace remy_plus::bindings
