#pragma once
/// The inputs that hold samples.
#include <optional>
#include <vector>

#include "ir/batch_axis.h"
#include "ir/graph.h"
#include "passes/batch_dim.h"

namespace perfc {

struct BatchInputs {
  std::vector<std::optional<std::size_t>> axes;  ///< by param: its dim that grows with the batch
  /// How many samples the inputs hold. Inputs that the user named may hold a multiple: 4 texts to an image.
  Dim samples;
  std::size_t first = 0;  ///< the param that says how many

  bool holds_samples(std::size_t param) const { return axes[param].has_value(); }
};

/// The inputs that the user named hold the batch, the one with the fewest entries a sample each; where nobody named one
/// it is the first of rank 2 or more. Others follow where their first dim has as many entries. Nothing where no input
/// can hold samples.
std::optional<BatchInputs> batch_inputs(const Graph&, const std::vector<BatchAxis>&);

/// Warns of inputs that hold no samples although a good part of the work reads them and no sample: images, where texts
/// come first.
void warn_left_behind(const Graph&, const BatchInputs&, Diagnostics&);

/// The params with `change` made to those that hold samples; what is known of their contents is repeated.
Result<std::vector<ResultInfo>> changed_params(const Graph&, const BatchInputs&, const passes::BatchChange&,
                                               Diagnostics&);

/// Of a change that failed: which option or export gives what was asked for.
void say_what_helps(const Graph&, const BatchInputs&, const passes::BatchChange&, Diagnostics&);

}  // namespace perfc
