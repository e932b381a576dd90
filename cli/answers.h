#pragma once
/// What predictions print: the formats of --emit, and the reports that most of them are made from. `perfc predict` and
/// `perfc serve` share it.
#include <functional>
#include <limits>
#include <span>

#include "cli/cli.h"
#include "pipeline/model_file.h"

namespace perfc::cli {

inline constexpr std::size_t kNoDepth = std::numeric_limits<std::size_t>::max();

struct AnswerOptions : PredictOptions {
  std::string emit = "report", schema;
  bool json = false, quiet = false;
  std::size_t top = 5, depth = kNoDepth;
};

/// What a row of `emits` that prints a graph may look at.
struct Asked {
  const AnswerOptions& o;
  const Request& request;
  const Graph& graph;
  const std::vector<Device>& devices;
  Diagnostics& diags;
};

/// What --emit can ask for: the text of each model's graph, or that of the reports on all models.
struct Emit {
  std::string_view name;
  std::string_view type;  ///< media type (RFC 6838) of the text
  std::optional<std::string> (*of_graph)(const Asked&);
  std::string (*of_reports)(const std::vector<Report>&, const AnswerOptions&, Colour);
};
std::span<const Emit> emits();

/// --emit and the options that refine it.
void add_answer_options(Command&, AnswerOptions&);
/// The row that is asked for; null: wrong, with the nearest right value.
const Emit* emit_of(const AnswerOptions&, Diagnostics& usage);

/// Reports on a model at the request's batch, with what `emit` has a place for. `batches`: how many are asked for, for
/// a table of batches shows by itself what a larger one brings.
Result<std::vector<Report>> reports_at(ModelFile&, const std::vector<Device>&, const Predictor&, const Request&,
                                       const Emit& emit, const AnswerOptions&, std::size_t batches, Diagnostics&);

}  // namespace perfc::cli
