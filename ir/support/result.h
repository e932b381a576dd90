#pragma once
/// `Result<T>`: a value, or the fact that something failed.
///
/// A `Failure` carries no text. Whoever creates one has already reported a
/// located message to a `Diagnostics`; callers only pass it on.
#include <cassert>
#include <optional>
#include <utility>

namespace perfc {

/// Proof that a diagnostic was reported. Made by `Diagnostics::error`.
struct Failure {};

/// Either a `T` or a `Failure`. Must be looked at.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(Failure) {}  // NOLINT: implicit by intent, `return diags.error(…)`
  Result(T value) : value_(std::move(value)) {}

  explicit operator bool() const { return value_.has_value(); }
  T& operator*() & {
    assert(value_);
    return *value_;
  }
  const T& operator*() const& {
    assert(value_);
    return *value_;
  }
  T&& operator*() && {
    assert(value_);
    return std::move(*value_);
  }
  T* operator->() {
    assert(value_);
    return &*value_;
  }
  const T* operator->() const {
    assert(value_);
    return &*value_;
  }

 private:
  std::optional<T> value_;
};

/// Success without a value: `return ok();`.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() : ok_(true) {}
  Result(Failure) : ok_(false) {}
  explicit operator bool() const { return ok_; }

 private:
  bool ok_;
};
using Status = Result<void>;
inline Status ok() { return {}; }

}  // namespace perfc
