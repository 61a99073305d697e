#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "arrays.hpp"
#include "stamping_state.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

template <class T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::object encode(const nb::dict& content, const Column<double>& values, const Column<double>& draws) {
  const Coding coding = coding_from(content);
  if (draws.shape(0) != values.shape(0)) throw std::invalid_argument("one draw per value is needed");
  std::vector<std::uint64_t> codes(values.shape(0));
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = coding.encode(values.data()[i], draws.data()[i]);
  return column<std::uint64_t>(codes, [](std::uint64_t c) { return c; });
}

nb::object decode(const nb::dict& content, const Column<std::uint64_t>& codes) {
  const Coding coding = coding_from(content);
  std::vector<double> values(codes.shape(0));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = coding.decode(codes.data()[i]);
  return column<double>(values, [](double v) { return v; });
}

double formula_value(const nb::list& tokens, const std::vector<double>& sources, const std::vector<double>& fields) {
  const auto at = [](const std::vector<double>& values) { return [&values](std::size_t i) { return values.at(i); }; };
  return formula_from(tokens).value(at(sources), at(fields));
}

}  // namespace

void bind_coding(nb::module_& m) {
  m.def("encode", &encode, "coding"_a, "values"_a, "draws"_a,
        "The codes of numbers, as hops write them: the content of a Coding, and a draw on [0, 1) for each number.");
  m.def("decode", &decode, "coding"_a, "codes"_a, "The numbers of codes, as senders read them.");
  m.def("formula_value", &formula_value, "tokens"_a, "sources"_a, "fields"_a,
        "The value of a formula in postfix order; sources in the order of SOURCE_NAMES.");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < source_count; ++i) names.emplace_back(source_table[i].name);
  m.attr("SOURCE_NAMES") = nb::cast(names);
}

}  // namespace remy_plus::bindings
