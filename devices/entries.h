#pragma once
/// Files that hold a list of named entries, such as hosts and stacks: read as a whole, searched by name, or as a file
/// of one that an option takes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <vector>

#include "devices/fields.h"

namespace perfc {

/// What messages call them.
struct EntryKind {
  std::string_view one;     ///< "host"; the list is "hosts", the schema "perfc.hosts/1"
  std::string_view file;    ///< what a file of them looks like: "data/hosts.json"
  std::string_view origin;  ///< where a file of one's own comes from
  std::string list() const { return fmt::format("{}s", one); }
  std::string schema() const { return fmt::format("perfc.{}s/1", one); }
};

/// An object of the list, at `path` of its file; what is wrong is reported.
template <class Entry>
using ReadEntry = Entry (*)(const json::Element&, const std::string& path, Diagnostics&);

template <class Entry>
Result<std::vector<Entry>> parse_entries(std::string_view text, const EntryKind& kind, ReadEntry<Entry> read,
                                         Diagnostics& diags) {
  const std::size_t before = diags.errors();
  const auto document = json::Document::parse(text, diags);
  if (!document) {
    return diags.error(fmt::format("not valid JSON; a {} file looks like {} (docs/devices.md)", kind.one, kind.file));
  }
  Fields top(document->root(), "", diags);
  std::string schema;
  top.require("schema");
  top.require(kind.list().c_str());
  top.text("schema", schema);
  if (!schema.empty() && schema != kind.schema())
    return diags.error(fmt::format("schema: '{}' is not '{}'", schema, kind.schema()));
  std::vector<Entry> entries;
  if (const auto all = top.list(kind.list().c_str())) {
    for (const json::Element& entry : *all)
      entries.push_back(read(entry, fmt::format("{}[{}]", kind.list(), entries.size()), diags));
  }
  top.finish();
  if (diags.errors() > before) return Failure{};
  return entries;
}

/// By name, case-insensitive. Unknown names are an error that suggests the nearest.
template <class Entry>
Result<Entry> find_entry(std::string_view wanted, const std::vector<Entry>& all, const EntryKind& kind,
                         Diagnostics& diags) {
  std::vector<std::string> known;
  for (const Entry& e : all) {
    if (lower(e.name) == lower(wanted)) return e;
    known.push_back(e.name);
  }
  const std::string near = did_you_mean(lower(wanted), known);
  return diags.error(fmt::format("unknown {} '{}'{}; it is {}, or a {} file ({})", kind.one, wanted,
                                 near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near), fmt::join(known, ", "),
                                 kind.one, kind.origin));
}

/// The one entry of a file's text.
template <class Entry>
Result<Entry> parse_single_entry(std::string_view text, const EntryKind& kind, ReadEntry<Entry> read,
                                 Diagnostics& diags) {
  auto entries = parse_entries(text, kind, read, diags);
  if (!entries) return Failure{};
  if (entries->size() != 1) {
    return diags.error(
        fmt::format("{}: has {} entries; --{} takes a file of one", kind.list(), entries->size(), kind.one));
  }
  return std::move(entries->front());
}

/// A field whose value is the name of a built-in entry, or an object. Absent, `out` stays.
template <class Entry>
void read_entry_field(Fields& fields, const EntryKind& kind, Result<Entry> (*find)(std::string_view, Diagnostics&),
                      ReadEntry<Entry> read, Entry& out, Diagnostics& diags) {
  const std::string key(kind.one);
  const auto given = fields.member(key.c_str());
  if (!given) return;
  if (given->is_object()) {
    out = read(*given, fields.at(key), diags);
    return;
  }
  const auto name = json::text(*given);
  if (!name) return fields.complain(key, fmt::format("must be the name of a {} or an object", kind.one));
  Diagnostics quiet;
  if (auto found = find(*name, quiet)) out = std::move(*found);
  else fields.complain(key, quiet.all().front().message);
}

}  // namespace perfc
