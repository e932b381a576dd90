#include <fmt/format.h>

#include <algorithm>

#include "frontends/common/piped.h"
#include "frontends/common/zip.h"
#include "frontends/folder.h"
#include "frontends/foreign.h"
#include "frontends/frontend.h"
#include "ir/support/text.h"

namespace perfc {
namespace {

constexpr std::size_t kHead = 4096;  ///< bytes that a front end looks at to know its format

/// Where several formats end alike (".json"), the content decides; null: no front end knows such a file.
const FrontendDef* choose(std::string_view name, std::string_view head) {
  const FrontendDef* chosen = nullptr;
  std::size_t longest = 0;
  for (const FrontendDef& f : frontend_table()) {
    std::string_view rest = f.extensions;
    while (!rest.empty()) {
      const std::string_view extension = next_word(rest);
      const bool better =
          extension.size() > longest || (extension.size() == longest && !chosen->sniff(head) && f.sniff(head));
      if (name.ends_with(extension) && better) {
        chosen = &f;
        longest = extension.size();
      }
    }
  }
  if (chosen) return chosen;
  const auto known = std::find_if(frontend_table().begin(), frontend_table().end(),
                                  [&](const FrontendDef& f) { return f.sniff(head); });
  return known == frontend_table().end() ? nullptr : &*known;
}

bool is_large_archive(const PipeBytes& pipe) { return pipe.file_size() && pipe.bytes().starts_with("PK\3\4"); }

/// What front ends read in a large archive; of a damaged one its head is kept, which says so. False: failed.
bool read_archive(PipeBytes& pipe, std::string& out) {
  const auto part = [&](std::uint64_t at, std::uint64_t n) -> std::optional<std::string> {
    if (n > PipeBytes::kMostKept || !pipe.restart(at) || !pipe.keep(static_cast<std::size_t>(n))) return std::nullopt;
    return std::string(pipe.bytes());
  };
  if (auto archive = ZipArchive::without_weights(part, *pipe.file_size(), PipeBytes::kMostKept))
    out = *std::move(archive);
  return pipe.error().empty() && pipe.restart(0) && pipe.keep(kHead);
}

}  // namespace

Result<Source> Source::open(const std::string& path, Diagnostics& diags) {
  Source s;
  s.name_ = path == "-" ? std::string(kStandardInput) : path;
  auto file = InputFile::open(path, diags);
  if (!file) return Failure{};
  s.file_ = std::move(*file);
  return s;
}

Result<Source> Source::open_model(const std::string& given, Diagnostics& diags) {
  Source s;
  const auto found = model_file_in(given, diags);
  if (!found) return Failure{};
  const std::string& path = *found;
  s.name_ = path == "-" ? std::string(kStandardInput) : path;
  if (path != given) diags.in_file(path);
  auto file = InputFile::open(path, diags, [&](PipeBytes& pipe) {
    if (!pipe.keep(kHead)) return false;
    const FrontendDef* chosen = choose(s.name_, pipe.bytes());
    if (is_large_archive(pipe)) return read_archive(pipe, s.owned_);
    return !chosen || foreign_format(pipe.bytes()) ||
           (chosen->weights ? read_without_weights(pipe, *chosen->weights) : read_to_end(pipe));
  });
  if (!file) return Failure{};
  if (s.owned_.empty()) s.file_ = std::move(*file);
  return s;
}

Source Source::from_bytes(std::string name, std::string bytes) {
  Source s;
  s.name_ = std::move(name);
  s.owned_ = std::move(bytes);
  return s;
}

const FrontendDef* frontend_of(const Source& source) { return choose(source.name(), source.bytes().substr(0, kHead)); }

Result<Graph> import_model(const Source& source, const ImportOptions& options, Diagnostics& diags) {
  if (source.bytes().empty()) return diags.error("the file is empty; a model file was expected");
  if (const auto foreign = foreign_format(source.bytes()))
    return diags.error(fmt::format("cannot import: {}", *foreign));
  const FrontendDef* chosen = frontend_of(source);
  if (!chosen) {
    std::string known;
    for (const FrontendDef& f : frontend_table()) {
      known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", f.summary, f.extensions);
    }
    return diags.error(fmt::format("not a model format that perfc reads; it reads {}", known));
  }
  if (!options.signature.empty() && !chosen->signatures) {
    return diags.error(fmt::format("--signature: only TensorFlow models have signatures; this is {}", chosen->summary));
  }
  return chosen->import(source, options, diags);
}

}  // namespace perfc
