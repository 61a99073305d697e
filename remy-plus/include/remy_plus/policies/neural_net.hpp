// Trained networks: dense layers, before them perhaps one long short-term memory. Single precision throughout.
//
// Equal bits on every platform: sums run in the order of the inputs, products are not contracted, and the exponential
// is made of basic arithmetic. Weights lie input by input, so that compilers may take many outputs at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace remy_plus {

enum class Activation : std::uint8_t { linear, tanh, relu };

// 2^y for |y| <= 60, relative error below 2e-7.
inline float portable_exp2(float y) {
  const float whole = (y + 12582912.0f) - 12582912.0f;  // to the nearest: 1.5 · 2^23 leaves no room for fractions
  const float f = y - whole;                            // |f| <= 1/2
  float p = 1.5252734e-5f;                              // ln(2)^7 / 7! and so on
  p = p * f + 1.5403530e-4f;
  p = p * f + 1.3333558e-3f;
  p = p * f + 9.6181291e-3f;
  p = p * f + 5.5504109e-2f;
  p = p * f + 2.4022651e-1f;
  p = p * f + 6.9314718e-1f;
  p = p * f + 1.0f;
  return p * std::bit_cast<float>((static_cast<std::int32_t>(whole) + 127) << 23);
}

inline constexpr float log2_of_e = 1.4426950408889634f;

// Hyperbolic tangent and logistic function, absolute error below 2e-7.
inline float portable_tanh(float x) {
  const float e = portable_exp2(2 * log2_of_e * std::clamp(x, -12.0f, 12.0f));
  return (e - 1) / (e + 1);
}

inline float portable_logistic(float x) {
  const float e = portable_exp2(log2_of_e * std::clamp(x, -40.0f, 40.0f));
  return e / (e + 1);
}

struct Dense {
  std::size_t inputs = 0, outputs = 0;
  std::vector<float> weights;  // inputs × outputs
  std::vector<float> biases;   // outputs
  Activation activation = Activation::linear;

  // Throws std::invalid_argument naming what is wrong.
  void check() const;
  void apply(const float* in, float* out) const;
};

// A long short-term memory (Hochreiter and Schmidhuber, 1997; with a forget gate, Gers et al., 2000). The four gates
// stand in the order input, forget, cell, output.
struct Lstm {
  std::size_t inputs = 0, cells = 0;
  std::vector<float> from_input;   // inputs × 4 cells
  std::vector<float> from_hidden;  // cells × 4 cells
  std::vector<float> biases;       // 4 cells

  void check() const;
  // `state` is hidden, then cell: 2 × cells. `gates` has room for 4 × cells.
  void apply(const float* in, float* state, float* gates) const;
};

struct NeuralNet {
  std::optional<Lstm> memory;
  std::vector<Dense> layers;

  // Throws std::invalid_argument naming what is wrong.
  void check() const;

  std::size_t inputs() const { return memory ? memory->inputs : layers.front().inputs; }
  std::size_t outputs() const { return layers.back().outputs; }
  std::size_t state_size() const { return memory ? 2 * memory->cells : 0; }
  std::size_t scratch_size() const;  // of `run`

  // Returns the outputs, which lie in `scratch`; `state` is zeros at first, and changed.
  std::span<const float> run(const float* in, float* state, float* scratch) const;
};

}  // namespace remy_plus
