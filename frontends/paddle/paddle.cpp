#include "frontends/paddle/paddle.h"

#include <algorithm>

#include "frontends/common/wire.h"
#include "frontends/paddle/importer.h"
#include "frontends/paddle/pir_json.h"
#include "frontends/paddle/table.h"

namespace perfc::paddle {
namespace {

/// "resnet18" of "models/resnet18.pdmodel"; files called __model__ go by their folder.
std::string model_name(std::string_view path) {
  const std::string_view whole = path;
  path.remove_prefix(std::min(path.rfind('/') + 1, path.size()));
  if (path == "__model__" && whole.size() > path.size()) {
    std::string_view folder = whole.substr(0, whole.size() - path.size() - 1);
    folder.remove_prefix(std::min(folder.rfind('/') + 1, folder.size()));
    path = folder;
  }
  return std::string(path.substr(0, path.find('.')));
}

}  // namespace

/// A block message first, which begins with its index, 0, and that of its parent, −1.
bool sniff_program(std::string_view head) {
  const char *p = head.data(), *end = head.data() + head.size();
  std::uint64_t length = 0;
  if (head.size() < 2 || *p++ != 0x0a || !wire::read_varint(p, end, length)) return false;
  wire::Reader block({p, static_cast<std::size_t>(end - p)});
  wire::Field index, parent;
  if (!block.next(index) || index.number != 1 || index.type != wire::WireType::Varint || index.value != 0) return false;
  return block.next(parent) && parent.number == 2 && parent.type == wire::WireType::Varint &&
         static_cast<std::int32_t>(parent.value) == -1;
}

bool sniff_pir(std::string_view head) {
  return head.find("\"base_code\"") != std::string_view::npos && head.find("\"pir\"") != std::string_view::npos;
}

Result<Graph> import_program(const Source& source, const ImportOptions& options, Diagnostics& diags) {
  const auto program = read_descriptor(source.bytes(), diags);
  if (!program) return Failure{};
  return Importer(*program, model_name(source.name()), options, diags).run();
}

Result<Graph> import_pir(const Source& source, const ImportOptions& options, Diagnostics& diags) {
  const auto document = json::Document::parse(source.bytes(), diags);
  if (!document) return Failure{};
  const auto program = read_pir(*document, diags);
  if (!program) return Failure{};
  return Importer(*program, model_name(source.name()), options, diags).run();
}

std::vector<OpCoverage> coverage() {
  std::vector<OpCoverage> out;
  for (const PaddleRow& row : table()) {
    std::string_view names = row.names;
    while (!names.empty()) {
      std::string_view name = next_word(names, ' ');
      if (name.starts_with("pir:")) name.remove_prefix(4);
      if (name.starts_with("old:")) name.remove_prefix(4);
      const bool known = std::any_of(out.begin(), out.end(), [&](const OpCoverage& o) { return o.source == name; });
      if (!known) out.push_back({std::string(name), std::string(is_operator(row.op) ? def(row.op).name : row.becomes)});
    }
  }
  for (const auto& [name, becomes] : control_operators()) out.push_back({std::string(name), std::string(becomes)});
  std::ranges::sort(out, {}, &OpCoverage::source);
  return out;
}

}  // namespace perfc::paddle
