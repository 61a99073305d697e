#include "remy_plus/policies/neural_net.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace remy_plus {
namespace {

constexpr std::size_t widest = 4096, deepest = 16;

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

void check_width(std::size_t width, const char* what) {
  require(width >= 1 && width <= widest, std::string(what) + " must be from 1 to 4096, got " + std::to_string(width));
}

void check_numbers(const std::vector<float>& numbers, std::size_t count, const char* what) {
  require(numbers.size() == count, std::string(what) + ": " + std::to_string(count) + " numbers are needed, got " +
                                       std::to_string(numbers.size()));
  for (const float x : numbers) require(std::isfinite(x), std::string(what) + " must be finite numbers");
}

// Many outputs at a time, as wide as the processor has it; sums run in the same order whatever the width. Sanitizers
// cannot start with functions that are chosen as a library is loaded.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define LCCA_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define LCCA_WIDE
#endif

// out += weights · in, with the weights input by input.
LCCA_WIDE void add_product(const float* weights, const float* in, std::size_t inputs, float* __restrict out,
                           std::size_t outputs) {
  for (std::size_t i = 0; i < inputs; ++i) {
    const float x = in[i];
    const float* row = weights + i * outputs;
    for (std::size_t o = 0; o < outputs; ++o) out[o] += row[o] * x;
  }
}

LCCA_WIDE void activate(Activation activation, float* values, std::size_t count) {
  if (activation == Activation::tanh)
    for (std::size_t i = 0; i < count; ++i) values[i] = portable_tanh(values[i]);
  if (activation == Activation::relu)
    for (std::size_t i = 0; i < count; ++i) values[i] = std::max(values[i], 0.0f);
}

}  // namespace

void Dense::check() const {
  check_width(inputs, "inputs of a layer");
  check_width(outputs, "outputs of a layer");
  check_numbers(weights, inputs * outputs, "weights");
  check_numbers(biases, outputs, "biases");
}

void Dense::apply(const float* in, float* out) const {
  std::copy(biases.begin(), biases.end(), out);
  add_product(weights.data(), in, inputs, out, outputs);
  activate(activation, out, outputs);
}

void Lstm::check() const {
  check_width(inputs, "inputs of a memory");
  check_width(cells, "cells of a memory");
  check_numbers(from_input, inputs * 4 * cells, "weights of a memory's inputs");
  check_numbers(from_hidden, cells * 4 * cells, "weights of a memory's state");
  check_numbers(biases, 4 * cells, "biases of a memory");
}

void Lstm::apply(const float* in, float* state, float* gates) const {
  std::copy(biases.begin(), biases.end(), gates);
  add_product(from_input.data(), in, inputs, gates, 4 * cells);
  add_product(from_hidden.data(), state, cells, gates, 4 * cells);
  float *hidden = state, *cell = state + cells;
  for (std::size_t i = 0; i < cells; ++i) {
    const float let_in = portable_logistic(gates[i]), keep = portable_logistic(gates[cells + i]);
    cell[i] = keep * cell[i] + let_in * portable_tanh(gates[2 * cells + i]);
    hidden[i] = portable_logistic(gates[3 * cells + i]) * portable_tanh(cell[i]);
  }
}

void NeuralNet::check() const {
  require(!layers.empty() && layers.size() <= deepest, "a network needs 1 to 16 layers");
  if (memory) memory->check();
  std::size_t before = memory ? memory->cells : layers.front().inputs;
  for (const Dense& layer : layers) {
    layer.check();
    require(layer.inputs == before, "a layer takes " + std::to_string(layer.inputs) + " inputs, but there are " +
                                        std::to_string(before) + " before it");
    before = layer.outputs;
  }
}

std::size_t NeuralNet::scratch_size() const {
  std::size_t most = memory ? 2 * memory->cells : 0;  // half of 4 × cells
  for (const Dense& layer : layers) most = std::max(most, layer.outputs);
  return 2 * most;
}

std::span<const float> NeuralNet::run(const float* in, float* state, float* scratch) const {
  if (memory) {
    memory->apply(in, state, scratch);
    in = state;
  }
  float *to = scratch, *other = scratch + scratch_size() / 2;
  for (const Dense& layer : layers) {
    layer.apply(in, to);
    in = to;
    std::swap(to, other);
  }
  return {in, outputs()};
}

}  // namespace remy_plus
