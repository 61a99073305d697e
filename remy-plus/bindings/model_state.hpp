// The model from a dictionary of plain values, all of them, for every module that simulates; and its defaults.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <stdexcept>
#include <string>

#include "remy_plus/core/model.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;

template <class Visit>
void for_each_option(const Visit& visit) {
  std::apply([&](const auto&... option) { (visit(option), ...); }, model_options);
}

// Throws std::invalid_argument naming an option that is missing or unknown, or whose value is impossible.
inline Model model_from(const nb::dict& d) {
  Model model;
  for_each_option([&]<class T>(const ModelOption<T>& option) {
    const std::string name(option.name);
    if (!d.contains(name.c_str())) throw std::invalid_argument("model lacks " + name);
    if (!nb::try_cast(d[name.c_str()], model.*option.member))
      throw std::invalid_argument("model." + name + " must be " +
                                  (std::is_same_v<T, bool> ? "true or false" : "a number"));
  });
  if (d.size() != std::tuple_size_v<decltype(model_options)>)
    throw std::invalid_argument("model has options that are unknown");
  validate(model);
  return model;
}

inline nb::dict model_defaults() {
  nb::dict d;
  const Model model;
  for_each_option([&](const auto& option) { d[std::string(option.name).c_str()] = model.*option.member; });
  return d;
}

}  // namespace remy_plus::bindings
