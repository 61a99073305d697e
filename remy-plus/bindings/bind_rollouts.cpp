#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <utility>
#include <variant>

#include "arrays.hpp"
#include "remy_plus/envs/rollouts.hpp"
#include "remy_plus/policies/policy.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;
using namespace nb::literals;

const Policy& policy_of(nb::handle handle);

namespace {

template <class T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
std::span<const T> span_of(const Column<T>& column) {
  return {column.data(), column.size()};
}

void init(Rollouts* self, AgentSlots& slots, std::vector<float> privileges, std::uint64_t seed) {
  new (self) Rollouts(slots, std::move(privileges), seed);
}

void play(Rollouts& self, std::uint64_t rows, nb::handle actor, const std::vector<float>& deviations) {
  const auto* network = std::get_if<Mlp>(&policy_of(actor));
  if (!network) throw std::invalid_argument("rollouts need a policy that is a trained network");
  const nb::gil_scoped_release release;
  self.play(rows, *network, deviations);
}

nb::dict experience(const Rollouts& self, bool latest) {
  Experience all = self.experience(latest);
  const std::size_t rows = all.rows();
  nb::dict out;
  const auto matrix = [](std::vector<float> values, std::size_t count, std::size_t width) {
    return to_numpy(std::move(values), {count, width});
  };
  out["seen"] = matrix(std::move(all.seen), rows, self.width());
  out["action"] = matrix(std::move(all.action), rows, self.numbers());
  out["log_probability"] = to_numpy(std::move(all.log_probability));
  out["reward"] = to_numpy(std::move(all.reward));
  out["elapsed"] = to_numpy(std::move(all.elapsed));
  out["common"] = to_numpy(std::move(all.common));
  out["ended"] = to_numpy(std::move(all.ended));
  out["slot"] = to_numpy(std::move(all.slot));
  out["network"] = to_numpy(std::move(all.network));
  out["next"] = to_numpy(std::move(all.next));
  const std::size_t last = all.after_of.size();
  out["after"] = matrix(std::move(all.after), last, self.width());
  out["after_of"] = to_numpy(std::move(all.after_of));
  return out;
}

nb::object sum_up(const Column<float>& surprise, const Column<float>& goes_on, const Column<std::int32_t>& next) {
  if (surprise.size() != next.size() || goes_on.size() != next.size())
    throw std::invalid_argument("columns must have the same rows");
  for (std::size_t i = 0; i < next.size(); ++i)
    if (next(i) >= 0 && (static_cast<std::size_t>(next(i)) <= i || static_cast<std::size_t>(next(i)) >= next.size()))
      throw std::invalid_argument("a next row must come later");
  return to_numpy(advantages(span_of(surprise), span_of(goes_on), span_of(next)));
}

}  // namespace

void bind_rollouts(nb::module_& m) {
  nb::class_<Rollouts>(m, "Rollouts", "Decisions of a network with noise, and their outcomes; see remy_plus/envs.")
      .def("__init__", &init, "slots"_a, "privileges"_a, "seed"_a, nb::keep_alive<1, 2>())
      .def("begin", &Rollouts::begin, "Forget the rows so far; decisions without an outcome wait for it.")
      .def("play", &play, "rows"_a, "actor"_a, "deviations"_a,
           "Play on until there are so many rows since begin(); without deviations an entry of a table is drawn.")
      .def("experience", &experience, "latest"_a = false,
           "Columns of all rows since begin(), or of those of the latest play() without `next` and `after`.");
  m.def("advantages", &sum_up, "surprise"_a, "goes_on"_a, "next"_a,
        "Each row's surprise, and the discounted advantage of the row `next` (< 0: none) on top of it.");
}

}  // namespace remy_plus::bindings
