#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "arrays.hpp"
#include "model_state.hpp"
#include "remy_plus/batch/batch.hpp"
#include "remy_plus/workload/open_flows.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;
using namespace nb::literals;

const Policy& policy_of(nb::handle handle);
std::shared_ptr<const Stamping> header_of(nb::handle handle);

namespace {

template <class T>
using Values = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

bool keep_going() {
  const nb::gil_scoped_acquire gil;
  return PyErr_CheckSignals() == 0;
}

// The network once per trial, each with its part of the flows.
std::vector<Network> with_flows(const Network& network, const Values<std::int64_t>& begin,
                                const Values<double>& arrival, const Values<std::uint64_t>& size) {
  const std::size_t flows = arrival.shape(0), trials = begin.shape(0) > 0 ? begin.shape(0) - 1 : 0;
  if (size.shape(0) != flows) throw std::invalid_argument("arrival and size must have one entry per flow");
  if (trials == 0 || begin.data()[0] != 0 || begin.data()[trials] != static_cast<std::int64_t>(flows) ||
      !std::is_sorted(begin.data(), begin.data() + trials + 1))
    throw std::invalid_argument("begin must rise from 0 to the number of flows");
  std::vector<Network> networks(trials, network);
  for (std::size_t i = 0; i < trials; ++i) {
    const std::int64_t from = begin.data()[i], to = begin.data()[i + 1];
    networks[i].workload =
        std::make_shared<FlowTrace>(std::vector<double>(arrival.data() + from, arrival.data() + to),
                                    std::vector<std::uint64_t>(size.data() + from, size.data() + to));
  }
  return networks;
}

nb::object run(nb::handle policy, const Network& network, const Values<std::int64_t>& begin,
               const Values<double>& arrival, const Values<std::uint64_t>& size, double duration, const nb::dict& model,
               unsigned jobs) {
  if (!network.workload->open()) throw std::invalid_argument("flows can be given to open networks only");
  BatchOptions options;
  options.duration = duration;
  options.model = model_from(model);
  options.jobs = std::max(jobs, 1u);
  options.keep_flows = true;
  options.headers = {header_of(policy)};
  const std::vector<Network> networks = with_flows(network, begin, arrival, size);
  const std::vector<Policy> policies{policy_of(policy)};
  std::vector<Trial> trials;
  for (std::uint32_t i = 0; i < networks.size(); ++i) trials.push_back({0, i, 0});
  BatchResult result;
  try {
    const nb::gil_scoped_release release;
    result = run_batch(policies, networks, trials, options, keep_going);
  } catch (const Interrupted&) {
    throw nb::python_error();
  }
  return column<double>(result.flows, [](const Flow& f) {
    return f.finished && f.delivered >= f.length ? f.last_arrival - f.start : std::nan("");
  });
}

}  // namespace

void bind_flows(nb::module_& m) {
  m.def("run_flow_trace", &run, "policy"_a, "network"_a, "begin"_a, "arrival"_a, "size"_a, nb::kw_only(), "duration"_a,
        "model"_a, "jobs"_a,
        "Runs trials with these open flows (times in µs, sizes in packets; those of trial i begin at `begin[i]`) and "
        "returns the time from each flow's arrival to that of its last packet; NaN if it never came.");
}

}  // namespace remy_plus::bindings
