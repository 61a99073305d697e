// A marker with much to remember, kept outside of its port: every packet touches its port, which should stay small.
#pragma once

#include <memory>
#include <utility>

#include "remy_plus/fabric/marker/sight.hpp"

namespace remy_plus::fabric {

template <class M>
class Apart {
 public:
  static constexpr bool sees_marked = M::sees_marked, needs_sojourn = M::needs_sojourn;

  explicit Apart(const typename M::Parameters& given) : own_(std::make_unique<M>(given)) {}
  Apart(const Apart& other) : own_(std::make_unique<M>(*other.own_)) {}
  Apart(Apart&&) noexcept = default;
  Apart& operator=(Apart other) noexcept {
    own_ = std::move(other.own_);
    return *this;
  }

  bool marks(const Sight& sight, Draws& draws) { return own_->marks(sight, draws); }
  const M& own() const { return *own_; }
  void set(const typename M::Parameters& given) { own_->parameters = given; }

 private:
  std::unique_ptr<M> own_;
};

}  // namespace remy_plus::fabric
