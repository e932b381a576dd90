#include "frontends/torch/torch.h"

#include <algorithm>
#include <map>
#include <optional>

#include "frontends/common/zip.h"
#include "frontends/torch/aten_table.h"
#include "frontends/torch/importer.h"
#include "frontends/torch/pt2.h"
#include "frontends/torch/python.h"
#include "frontends/torch/torchscript.h"
#include "ir/support/text.h"

namespace perfc::torch {

bool sniff_json(std::string_view head) { return head.find("\"torchscript-json\"") != std::string_view::npos; }

Result<Graph> import_json(const Source& source, const ImportOptions& options, Diagnostics& diags) {
  const auto document = json::Document::parse(source.bytes(), diags);
  if (!document) return Failure{};
  const auto program = read_torchscript(*document, diags);
  if (!program) return Failure{};
  return Importer(*program, options, diags).run();
}

namespace {

/// ": it holds a, b, c, …".
std::string members(const ZipArchive& archive) {
  constexpr std::size_t kShown = 3;
  const auto& names = archive.names();
  if (names.empty()) return ": it is empty";
  std::string out = ": it holds ";
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) out += (i ? ", " : "") + names[i].substr(0, 60);
  return names.size() > kShown ? out + ", …" : out;
}

/// Numbers of a module that its program computes shapes with (how far a convolution of Mimi pads): buffers of one
/// integer, whose contents are read from the members "weights/…" and "constants/…" that hold them.
Status read_numbers(Program& program, const ZipArchive& archive, Diagnostics& diags) {
  std::map<std::string, std::string, std::less<>> members;  ///< of a buffer
  for (const std::string_view folder : {"weights", "constants"}) {
    const auto config = archive.find(fmt::format("_{}_config.json", folder));
    const auto text = config ? archive.read(*config, diags) : Result<std::string>(std::string("{}"));
    const auto document = text ? json::Document::parse(*text, diags) : Result<json::Document>(Failure{});
    if (!document) return Failure{};
    json::Object entries;
    const auto listed = json::member(document->root(), "config");
    if (!listed || listed->get(entries)) continue;
    for (const auto& [name, entry] : entries) {
      const auto file = json::text(json::member(entry, "path_name"));
      if (file) members.emplace(name, fmt::format("/{}/{}", folder, *file));
    }
  }
  for (Parameter& p : program.parameters) {
    const Type& t = p.literal.type;
    const bool number = t.ranked() && t.rank() == 0 && (t.dtype() == DType::Int64 || t.dtype() == DType::Int32);
    if (p.literal.data || !number) continue;
    const auto named = members.find(p.label);
    const auto member = named == members.end() ? std::nullopt : archive.find(named->second);
    if (!member) continue;
    const auto bytes = archive.read(*member, diags);
    if (!bytes) return Failure{};
    if (static_cast<double>(bytes->size()) != byte_size(t.dtype(), 1)) continue;  // a part of what several share
    std::uint64_t value = 0;
    for (std::size_t i = bytes->size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>((*bytes)[i]);
    const auto whole = t.dtype() == DType::Int32 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
    p.literal.data = std::make_shared<const Data>(Data{std::vector<SymInt>{SymInt(whole)}});
  }
  return ok();
}

}  // namespace

bool sniff_archive(std::string_view head) { return head.starts_with("PK\x03\x04"); }

Result<Graph> import_archive(const Source& source, const ImportOptions& options, Diagnostics& diags) {
  if (!sniff_archive(source.bytes().substr(0, 4))) return diags.error("not an archive of torch.export or TorchScript");
  const auto archive = ZipArchive::open(source.bytes(), diags);
  if (!archive) return Failure{};
  auto program_member = archive->find("serialized_exported_program.json");
  if (!program_member) {
    for (std::size_t i = 0; i < archive->names().size() && !program_member; ++i) {
      const std::string_view name = archive->names()[i];
      const std::size_t models = name.rfind("models/");
      if (models != std::string_view::npos && name.ends_with(".json") &&
          name.find('/', models + 7) == std::string_view::npos)
        program_member = i;
    }
  }
  if (!program_member) {
    const bool script =
        archive->find("constants.pkl") || archive->find(".debug_pkl") || archive->find("attributes.pkl");
    return diags.error(
        script ? std::string("a TorchScript archive, whose code is Python text; convert it with "
                             "`python -m perfc.export MODEL.pt` and import the JSON file")
        : archive->find("data.pkl")
            ? std::string("a pickle of weights or of a module by reference: it holds no program. "
                          "Export the module with `python -m perfc.export module:factory`")
            : "a zip archive that holds no exported program (models/*.json), nor another model that perfc knows" +
                  members(*archive) + "; unpack it and give the model in it");
  }
  const auto text = archive->read(*program_member, diags);
  if (!text) return Failure{};
  const auto document = json::Document::parse(*text, diags);
  if (!document) return Failure{};
  std::string weights_text;
  std::optional<json::Document> weights;
  if (const auto member = archive->find("_weights_config.json")) {
    auto w = archive->read(*member, diags);
    if (!w) return Failure{};
    weights_text = *std::move(w);
    auto parsed = json::Document::parse(weights_text, diags);
    if (!parsed) return Failure{};
    weights = *std::move(parsed);
  }
  auto program = read_exported(*document, weights ? &*weights : nullptr, diags);
  if (!program) return Failure{};
  if (!read_numbers(*program, *archive, diags)) return Failure{};
  std::string_view stem = source.name();
  stem.remove_prefix(std::min(stem.rfind('/') + 1, stem.size()));
  program->name = stem.substr(0, stem.find('.'));
  return Importer(*program, options, diags).run();
}

namespace {

/// What another overload becomes.
void add_operators(std::string& listed, std::string_view more) {
  while (!more.empty()) {
    const std::string_view word = next_word(more);
    const bool known = (" " + listed + " ").find(fmt::format(" {} ", word)) != std::string::npos;
    if (find_op(word) && !known) listed += fmt::format(" {}", word);
  }
}

}  // namespace

std::vector<OpCoverage> coverage() {
  std::map<std::string, std::string> becomes;
  for (const AtenRow& row : aten_table()) {
    const std::string name =
        row.name.find("::") == std::string_view::npos ? "aten::" + std::string(row.name) : std::string(row.name);
    const std::string_view to = row.translate ? row.becomes : def(row.op).name;
    const auto [at, is_new] = becomes.emplace(name, to.empty() ? "its argument" : to);
    if (!is_new) add_operators(at->second, to);
  }
  for (std::string_view name : python_operations()) becomes.emplace(name, "evaluated at import");
  becomes["prim::If"] = "if, or the branch that is taken";
  becomes["prim::Loop"] = "loop, or its rounds";
  std::vector<OpCoverage> out;
  out.reserve(becomes.size());
  for (auto& [source, result] : becomes) out.push_back({source, std::move(result)});
  return out;
}

}  // namespace perfc::torch
