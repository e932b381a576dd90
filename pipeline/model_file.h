#pragma once
/// A model's file as graphs: opened once, however many batches and execution settings are asked for.
#include <cstdint>
#include <optional>
#include <string>

#include "pipeline/pipeline.h"

namespace perfc {

class ModelFile {
 public:
  /// Opens the request's model.
  static Result<ModelFile> open(const Request&, Diagnostics&);
  /// One that is open; diagnostics call it by its name.
  explicit ModelFile(Source source) : name_(source.name()), source_(std::move(source)) {}

  /// The graph that predictors see (`load_graph`), at the request's batch and in its execution mode. Requests differ in
  /// these and in the dims that they bind; what they say of other shapes stays what it was at `open`. A file that fixes
  /// its shapes is imported once, whatever the number of batches. A precision that is the runtime's becomes the file's
  /// where its parameters have 16 bits.
  Result<Graph> at(Request&, Diagnostics&);

 private:
  ModelFile(Source source, std::string name) : name_(std::move(name)), source_(std::move(source)) {}
  Result<Graph> import(std::int64_t open_batch, const ImportOptions&, Diagnostics&);

  struct Imported {
    std::optional<std::int64_t> open_batch;  ///< empty: the file fixes its shapes
    std::vector<std::pair<std::string, std::int64_t>> dims;
    Graph graph;
    Diagnostics messages;
  };
  std::string name_;  ///< in diagnostics
  Source source_;
  std::optional<Imported> imported_;
};

}  // namespace perfc
