#pragma once
/// Located messages for the user, and where they come from.
///
/// Every reader, pass and predictor reports here and never prints. Format:
///   net.onnx: node 17 'layer1/conv' @20481: error: nn.conv2d: weight expects 32 channels, …
///   graph.pir:12:7: error: unknown operator 'nn.conv9d' (did you mean 'nn.conv2d'?)
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/result.h"

namespace perfc {

/// A place in a source file. Text formats fill line and column (1-based),
/// binary ones the node's index and the byte offset of its record. −1: unknown.
struct SourceLoc {
  std::int32_t line = -1;
  std::int32_t column = -1;
  std::int64_t node = -1;
  std::int64_t offset = -1;
};

enum class Severity { Note, Warning, Error };

struct Diagnostic {
  Severity severity = Severity::Error;
  std::string file;
  SourceLoc loc;
  std::string name;  ///< name of the node or value, may be empty
  std::string message;
};

/// "net.onnx: node 17 'conv1' @20481: error: …", one line, control characters escaped.
std::string to_string(const Diagnostic&);

/// Collects messages for one input file. Errors beyond `kMaxKept` are counted but not kept.
class Diagnostics {
 public:
  static constexpr std::size_t kMaxKept = 1000;

  explicit Diagnostics(std::string file = {}) : file_(std::move(file)) {}

  Failure error(SourceLoc loc, std::string_view name, std::string message);
  Failure error(std::string message) { return error({}, {}, std::move(message)); }
  void warning(SourceLoc loc, std::string_view name, std::string message);
  void warning(std::string message) { warning({}, {}, std::move(message)); }
  void note(SourceLoc loc, std::string_view name, std::string message);

  /// Takes over the messages of a trial run that turned out to count.
  void append(const Diagnostics& other);

  /// Messages from here on are about this file.
  void in_file(std::string file) { file_ = std::move(file); }
  const std::string& file() const { return file_; }
  const std::vector<Diagnostic>& all() const { return all_; }
  std::size_t errors() const { return errors_; }
  std::size_t warnings() const { return warnings_; }

  /// All messages, one per line.
  std::string str() const;

 private:
  void add(Severity, SourceLoc, std::string_view name, std::string message);
  std::string file_;
  std::vector<Diagnostic> all_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

/// The candidate nearest to `word` by edit distance, or empty when none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace perfc
