/// perfc_torch_bench FILE…: how fast PyTorch programs are read. Prints one JSON object
/// per file, in megabytes of JSON text per second (best of the rounds):
///   bytes      JSON text, unpacked
///   text       the text to simdjson's document; of .pt2, unzipped before
///   program    that, and the document to the program as it is written
///   import     the file to a typed graph (in ms: `import_ms`)
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>

#include "frontends/common/zip.h"
#include "frontends/frontend.h"
#include "frontends/torch/pt2.h"
#include "frontends/torch/torchscript.h"

namespace {

using namespace perfc;
constexpr double kLeastSeconds = 0.3;
constexpr int kLeastRounds = 5;

/// Seconds of the fastest round.
template <class F>
double fastest(F&& f) {
  double best = 1e9, spent = 0;
  for (int round = 0; round < kLeastRounds || spent < kLeastSeconds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    f();
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::min(best, s);
    spent += s;
  }
  return best;
}

bool measure(const std::string& path) {
  Diagnostics diags(path);
  const auto source = Source::open(path, diags);
  const auto complain = [&] {
    fmt::print(stderr, "{}", diags.str());
    return false;
  };
  if (!source) return complain();
  const bool archive = source->bytes().starts_with("PK");
  std::string unpacked;
  std::optional<std::size_t> member;
  const auto unzip = [&]() -> bool {
    const auto zip = ZipArchive::open(source->bytes(), diags);
    if (!zip) return false;
    for (std::size_t i = 0; i < zip->names().size(); ++i) {
      if (zip->names()[i].ends_with(".json") && zip->names()[i].find("/models/") != std::string::npos) member = i;
    }
    if (!member) return false;
    auto text = zip->read(*member, diags);
    if (!text) return false;
    unpacked = *std::move(text);
    return true;
  };
  if (archive && !unzip()) return complain();
  const auto text = [&] { return archive ? std::string_view(unpacked) : source->bytes(); };  // unzipping moves it
  const auto read = [&](const json::Document& d) {
    return archive ? bool(torch::read_exported(d, nullptr, diags)) : bool(torch::read_torchscript(d, diags));
  };

  bool good = true;
  const double document = fastest([&] { good = good && json::Document::parse(text(), diags); });
  const double program = fastest([&] {
    if (archive) good = good && unzip();
    const auto d = json::Document::parse(text(), diags);
    good = good && d && read(*d);
  });
  const double import = fastest([&] {
    Diagnostics unheard(path);
    good = good && import_model(*source, {}, unheard);
  });
  if (!good) return complain();
  const double mb = static_cast<double>(text().size()) / 1e6;
  fmt::print("{{\"file\": \"{}\", \"bytes\": {}, \"text\": {:.1f}, \"program\": {:.1f}, \"import_ms\": {:.3f}}}\n",
             path, text().size(), mb / document, mb / program, import * 1e3);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  bool good = argc > 1;
  for (int i = 1; i < argc; ++i) good = measure(argv[i]) && good;
  return good ? 0 : 1;
}
