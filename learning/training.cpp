#include "learning/training.h"

#include <fmt/format.h>

namespace perfc {

std::string to_csv(const RangeTest& test) {
  std::string out = "step,learning_rate,loss,smoothed\n";
  for (std::size_t i = 0; i < test.curve.size(); ++i) {
    const RangeTest::Point& p = test.curve[i];
    out += fmt::format("{},{:.6g},{:.6g},{:.6g}\n", i + 1, p.learning_rate, p.loss, p.smoothed);
  }
  return out;
}

}  // namespace perfc
