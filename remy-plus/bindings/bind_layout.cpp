#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <stdexcept>

#include "remy_plus/core/layout.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Hops = std::vector<std::vector<std::uint32_t>>;  // indices of links, per sender

std::vector<Link> links_of(const std::vector<double>& rate, const std::vector<double>& delay,
                           const std::vector<double>& buffer) {
  if (delay.size() != rate.size() || buffer.size() != rate.size())
    throw std::invalid_argument("link_rate, link_delay and link_buffer must have one entry per link");
  std::vector<Link> links;
  for (std::size_t i = 0; i < rate.size(); ++i) links.push_back({rate[i], delay[i], buffer[i]});
  return links;
}

void add_routes(Layout& layout, const Hops& forward, const Hops& backward) {
  if (forward.size() != backward.size())
    throw std::invalid_argument("forward and backward must have one entry per sender");
  const auto here = [&] { return static_cast<std::uint32_t>(layout.hops.size()); };
  for (std::size_t i = 0; i < forward.size(); ++i) {
    Route route{here(), 0, 0};
    layout.hops.insert(layout.hops.end(), forward[i].begin(), forward[i].end());
    route.turn = here();
    layout.hops.insert(layout.hops.end(), backward[i].begin(), backward[i].end());
    route.end = here();
    layout.routes.push_back(route);
  }
}

}  // namespace

void bind_layout(nb::module_& m) {
  nb::class_<Layout>(m, "Layout", "Links (packets/µs, µs, packets), and the links on each sender's way and back.")
      .def(
          "__init__",
          [](Layout* self, const std::vector<double>& link_rate, const std::vector<double>& link_delay,
             const std::vector<double>& link_buffer, const Hops& forward, const Hops& backward, std::size_t measured,
             bool one_way, const std::vector<bool>& stamps) {
            Layout layout;
            layout.links = links_of(link_rate, link_delay, link_buffer);
            if (!stamps.empty() && stamps.size() != layout.links.size())
              throw std::invalid_argument("stamps must have one entry per link");
            for (std::size_t i = 0; i < stamps.size(); ++i) layout.links[i].stamps = stamps[i];
            add_routes(layout, forward, backward);
            layout.measured = measured;
            layout.one_way = one_way;
            validate(layout);
            new (self) Layout(std::move(layout));
          },
          "link_rate"_a, "link_delay"_a, "link_buffer"_a, "forward"_a, "backward"_a, "measured"_a, "one_way"_a = false,
          "stamps"_a = std::vector<bool>{})
      .def_prop_ro("senders", [](const Layout& self) { return self.routes.size(); })
      .def_ro("measured", &Layout::measured);
}

}  // namespace remy_plus::bindings
