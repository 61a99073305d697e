// Vectors handed to NumPy without a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

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

}  // namespace remy_plus::bindings
