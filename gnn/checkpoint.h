#pragma once
/// Checkpoints: a model's weights with all that is needed to use them, in one
/// safetensors file. The metadata holds, as strings:
///   perfc.model        "pmgns-sage"
///   perfc.tables       JSON: the feature tables it reads, in order; of each its
///                      name, columns (name, unit), and its normaliser if any
///   perfc.vocabulary   JSON: names by index, e.g. of an embedding's operators
///   perfc.outputs      JSON: names, units and factors of the outputs
///   perfc.settings     JSON: string → number, the model's sizes
///   perfc.provenance   JSON: string → string: data, licence, seed, command, …
/// Columns and vocabularies are known by name; nothing depends on an enum's value.
#include <optional>

#include "features/schema.h"
#include "gnn/safetensors.h"

namespace perfc {

/// A feature matrix as the model was trained on it.
struct FeatureTable {
  std::string name;                      ///< "dippm", "dippm-static"
  std::vector<Column> columns;           ///< `meaning` is not saved
  std::optional<Normaliser> normaliser;  ///< of the same columns
};

struct OutputColumn {
  std::string name, unit;
  double factor = 1;  ///< the network's number is factor × the value
};

struct Checkpoint {
  std::string model;
  std::vector<FeatureTable> tables;
  std::vector<std::string> vocabulary;
  std::vector<OutputColumn> outputs;
  std::map<std::string, double> settings;
  std::map<std::string, std::string> provenance;
  std::vector<NamedTensor> tensors;
};

std::string write_checkpoint(const Checkpoint&);
Result<Checkpoint> read_checkpoint(const std::string& path, Diagnostics&);
Result<Checkpoint> parse_checkpoint(std::string_view bytes, Diagnostics&);

/// Refuses tables with other columns than the program extracts, naming the first
/// that differs: "dippm: column 3 is 'nn.dense' here and 'dense' in the checkpoint".
Status check_tables(const Checkpoint&, std::span<const FeatureTable> expected, Diagnostics&);

/// The setting of this name, which has to be a number from `lowest` to `highest`.
Result<double> number_setting(const Checkpoint&, const std::string& key, double lowest, double highest, Diagnostics&);

/// Copies of a model's parameters, and back. Loading refuses, by name, parameters
/// that are missing, unknown or of another shape, and then changes nothing.
std::vector<NamedTensor> save(const std::vector<NamedParameter<float>>&);
Status load(const std::vector<NamedTensor>&, const std::vector<NamedParameter<float>>&, Diagnostics&);

}  // namespace perfc
