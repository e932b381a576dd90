#pragma once
/// Two sets of models compared: what `perfc diff` and Python's `perfc.diff` do between their options and their output.
#include <functional>

#include "compare/formats/format.h"
#include "compare/model_set.h"
#include "pipeline/model_file.h"

namespace perfc {

/// `--price DEVICE=PRICE` per hour, of devices that are predicted for, by name or alias.
Result<Prices> parse_prices(const std::vector<std::string>&, const std::vector<Device>&, Diagnostics& usage);
/// `--fail-on LIST` of each.
Result<std::vector<Threshold>> parse_threshold_lists(const std::vector<std::string>&, Diagnostics& usage);
/// Fails on thresholds of figures that nobody has.
Status can_be_held(const std::vector<Threshold>&, const Prices&, const std::vector<Device>&, Diagnostics& usage);

/// What messages are about: a version that could not be predicted, or one that was.
enum class Told { Failure, Warnings };

/// What all models of a comparison have in common.
struct DiffJob {
  Request request;  ///< but for its model and batch
  std::vector<std::optional<std::int64_t>> batches;
  const std::vector<Device>& devices;
  const Predictor& predictor;
  const Predictor& whitebox;  ///< of pairs of which the predictor leaves one version to it
  const Prices& prices;
  std::function<void(const Diagnostics&, Told)> tell;
  Draw draw = Draw::No;
};
/// Fails unless both are folders or both are files.
Status of_a_kind(const ModelSet& base, const ModelSet& head, Diagnostics& usage);
/// Two of a kind: pairs by name, or the one file of each. What is no model is noted. Fails where there is no model.
Status compare_sets(const DiffJob&, const ModelSet& base, const ModelSet& head, DiffReport&, Diagnostics&);

}  // namespace perfc
