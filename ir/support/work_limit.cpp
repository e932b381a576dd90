#include "ir/support/work_limit.h"

namespace perfc {
namespace {

thread_local WorkLimit* current_limit = nullptr;

constexpr unsigned kAsksPerLook = 16;  ///< at the clock

}  // namespace

WorkLimit::WorkLimit(std::size_t most_nodes, Clock::time_point end) : most_nodes_(most_nodes), end_(end) {
  current_limit = this;
}

WorkLimit::~WorkLimit() { current_limit = nullptr; }

WorkLimit* WorkLimit::current() { return current_limit; }

bool WorkLimit::refuses(std::size_t nodes) {
  too_many_nodes_ = too_many_nodes_ || nodes >= most_nodes_;
  return nodes >= most_nodes_;
}

bool WorkLimit::is_late() {
  if (!late_ && asked_++ % kAsksPerLook == 0) late_ = Clock::now() >= end_;
  return late_;
}

}  // namespace perfc
