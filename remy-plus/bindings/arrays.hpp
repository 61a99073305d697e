// Vectors handed to NumPy without a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "remy_plus/core/record.hpp"

namespace remy_plus::bindings {

namespace nb = nanobind;

template <class T>
nb::object to_numpy(std::vector<T> values, std::initializer_list<std::size_t> shape) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  T* data = kept->data();
  nb::capsule owner(kept.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
}

template <class T>
nb::object to_numpy(std::vector<T> values) {
  const std::size_t n = values.size();
  return to_numpy(std::move(values), {n});
}

// One column of a vector of rows.
template <class T, class Row, class Get>
nb::object column(const std::vector<Row>& rows, Get get) {
  std::vector<T> values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(static_cast<T>(get(row)));
  return to_numpy(std::move(values));
}

// What NumPy has for a member: signed, so that differences are; bytes for what is true or false.
template <class T>
struct NumpyType {
  using type = T;
};
template <>
struct NumpyType<bool> {
  using type = std::uint8_t;
};
template <>
struct NumpyType<std::uint32_t> {
  using type = std::int32_t;
};
template <>
struct NumpyType<std::uint64_t> {
  using type = std::int64_t;
};

// Adds the columns of a list such as flow_columns.
template <class Row, class Columns>
void add_columns(nb::dict& out, const std::string& prefix, const std::vector<Row>& rows, const Columns& columns) {
  const auto add = [&]<class Base, class T>(const Column<Base, T>& c) {
    out[(prefix + std::string(c.name)).c_str()] =
        column<typename NumpyType<T>::type>(rows, [&](const Row& row) { return row.*c.member; });
  };
  std::apply([&](const auto&... c) { (add(c), ...); }, columns);
}

}  // namespace remy_plus::bindings
