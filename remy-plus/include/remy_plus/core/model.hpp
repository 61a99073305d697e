// Options of the network model, in one list: bindings read and write them by it, so that none can be left behind.
#pragma once

#include <string_view>
#include <tuple>

namespace remy_plus {

struct Model {
  double link_interval = 10;       // µs over which the link signal is collected
  bool rplus_link_window = false;  // divide by the whole interval, as R+ does, even where less time was covered
  double ack_size = 0.1;           // of an acknowledgement, in packets (where acknowledgements cross links)
  double mark_above = 0;           // packets waiting beyond which a queue marks; 0: DCTCP's (aqm/markers.hpp)
};

template <class T>
struct ModelOption {
  std::string_view name;
  T Model::* member;
};

inline constexpr auto model_options = std::make_tuple(
    ModelOption{"link_interval", &Model::link_interval}, ModelOption{"rplus_link_window", &Model::rplus_link_window},
    ModelOption{"ack_size", &Model::ack_size}, ModelOption{"mark_above", &Model::mark_above});

// A member that the list lacks does not compile: there are as many names here as members.
static_assert([] {
  [[maybe_unused]] const auto [a, b, c, d] = Model{};
  return std::tuple_size_v<decltype(model_options)> == 4;
}());

// Throws std::invalid_argument naming the option and its value.
void validate(const Model& model);

}  // namespace remy_plus
