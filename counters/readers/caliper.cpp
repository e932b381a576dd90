/// Caliper's JSON, as `cali-query` and the runtime's reports write it:
///   json-split  {"data": rows, "columns": …, "column_metadata": …, "nodes": …}; cells of
///               columns that hold no values are numbers of nodes, which form trees
///   json        a list of records; "path" holds "main/solve"
/// Globals of the run stand beside "data"; the program's name is one of them.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "counters/readers/reader.h"
#include "ir/support/csv.h"
#include "ir/support/json.h"

namespace perfc {
namespace {

using json::Array;
using json::Element;
using json::Object;

std::optional<double> number_in(const Element& e) {
  double v = 0;
  if (!e.get(v)) return v;
  std::string_view text;
  if (!e.get(text)) return parse_number(text);
  return {};
}

/// How a column combines: "inclusive#sum#time.duration" holds what is below,
/// "min#", "max#" and "avg#" are statistics over ranks.
Metric metric_of(std::string_view column, std::string_view unit) {
  Metric m{.name = std::string(column), .unit = std::string(unit)};
  m.scope = column.find("inclusive") != std::string_view::npos || column.ends_with("(inc)") ? Scope::Inclusive
                                                                                            : Scope::Exclusive;
  if (column.starts_with("max#")) m.combine = Combine::Max;
  if (column.starts_with("min#") || column.starts_with("avg#") || column.find("topdown.") != std::string_view::npos)
    m.combine = Combine::Mean;
  return m;
}

/// Columns that tell who measured, not how much.
bool is_label(std::string_view column) {
  return column == "mpi.rank" || column == "rank" || column == "Node order" || column == "thread" ||
         column == "cali.caliper.version" || column == "mpi.world.size";
}

class SplitReader {
 public:
  SplitReader(ProfileBuilder& builder, Diagnostics& diags) : builder_(builder), diags_(diags) {}

  Status read(const Element& root) {
    read_globals(root);
    if (!read_nodes(root) || !read_columns(root)) return Failure{};
    const auto data = json::array(json::member(root, "data"));
    if (!data) return diags_.error("\"data\" is no list");
    std::size_t row = 0;
    for (const Element cells : *data) {
      if (!read_row(row++, cells)) return Failure{};
    }
    return ok();
  }

 private:
  struct Node {
    std::string_view label;
    std::optional<std::size_t> parent;
    std::size_t region = 0;  ///< 0: not made yet
  };
  struct Column {
    std::optional<std::size_t> metric;  ///< of the builder
    bool path = false;
    bool weight = false;  ///< the time that means over regions are weighted with
  };

  void read_globals(const Element& root) {
    Object members;
    if (root.get(members)) return;
    for (const auto [key, value] : members) {
      std::string_view text;
      if (!value.get(text)) builder_.about(key, text);
    }
  }

  Status read_nodes(const Element& root) {
    const auto list = json::array(json::member(root, "nodes"));
    if (!list) return diags_.error("\"nodes\" is no list");
    for (const Element e : *list) {
      Node node{.label = json::text(json::member(e, "label")).value_or("unnamed")};
      if (const auto parent = json::member(e, "parent")) {
        const auto index = json::integer(parent);
        // Nodes stand behind their parents, so that no tree can be a cycle.
        if (!index || *index < 0 || static_cast<std::size_t>(*index) >= nodes_.size()) {
          return diags_.error({.node = static_cast<std::int64_t>(nodes_.size())}, node.label,
                              "its parent is no node that stands before it");
        }
        node.parent = static_cast<std::size_t>(*index);
      }
      nodes_.push_back(node);
    }
    return ok();
  }

  Status read_columns(const Element& root) {
    const auto names = json::array(json::member(root, "columns"));
    const auto metadata = json::array(json::member(root, "column_metadata"));
    if (!names || !metadata || names->size() != metadata->size()) {
      return diags_.error("\"columns\" and \"column_metadata\" are not two lists of the same length");
    }
    std::vector<Element> about(metadata->begin(), metadata->end());
    bool path_seen = false;
    for (const Element e : *names) {
      std::string_view name;
      if (e.get(name)) return diags_.error("a column's name is no text");
      const Element& meta = about[columns_.size()];
      bool is_value = false;
      if (const auto flag = json::member(meta, "is_value"); flag && flag->get(is_value)) is_value = false;
      Column column;
      if (is_value && !is_label(name))
        column.metric = builder_.metric(metric_of(name, json::text(json::member(meta, "attribute.unit")).value_or("")));
      column.weight = is_value && (name == "time" || name == "sum#time.duration" || name == "time (exc)");
      // Of several trees the call path is the one that regions are named by.
      column.path = !is_value && !path_seen &&
                    (name == "path" || name.find("path") != std::string_view::npos ||
                     name.find("function") != std::string_view::npos);
      path_seen |= column.path;
      columns_.push_back(column);
    }
    return ok();
  }

  Status read_row(std::size_t row, const Element& e) {
    Array cells;
    if (e.get(cells) || cells.size() != columns_.size()) {
      return diags_.error({.node = static_cast<std::int64_t>(row)}, {},
                          fmt::format("a row of \"data\" is no list of {} cells", columns_.size()));
    }
    std::vector<Element> all(cells.begin(), cells.end());
    std::size_t region = 0;
    for (std::size_t c = 0; c < all.size(); ++c) {
      if (!columns_[c].path || all[c].is_null()) continue;
      const auto node = json::integer(all[c]);
      if (!node || *node < 0 || static_cast<std::size_t>(*node) >= nodes_.size()) {
        return diags_.error({.node = static_cast<std::int64_t>(row)}, {},
                            fmt::format("a row's path is no number of the {} nodes", nodes_.size()));
      }
      region = region_of(static_cast<std::size_t>(*node));
    }
    for (std::size_t c = 0; c < all.size(); ++c) {
      if (!columns_[c].metric || all[c].is_null()) continue;
      const auto v = number_in(all[c]);
      if (!v) continue;
      if (columns_[c].weight) builder_.weigh(region, *v);
      add(region, *columns_[c].metric, *v);
    }
    return ok();
  }

  /// Rows without a path hold what no region covers; the whole run's values are made of all rows.
  void add(std::size_t region, std::size_t metric, double value) {
    if (region == 0) {
      if (outside_ == 0) outside_ = builder_.region("(outside of regions)");
      region = outside_;
    }
    builder_.add(region, metric, value);
  }

  std::size_t region_of(std::size_t node) {
    std::vector<std::size_t> missing;
    std::optional<std::size_t> at = node;
    while (at && nodes_[*at].region == 0) {
      missing.push_back(*at);
      at = nodes_[*at].parent;
    }
    std::size_t region = at ? nodes_[*at].region : 0;
    for (auto n = missing.rbegin(); n != missing.rend(); ++n)
      region = nodes_[*n].region = builder_.region(nodes_[*n].label, region);
    return region;
  }

  ProfileBuilder& builder_;
  Diagnostics& diags_;
  std::vector<Node> nodes_;
  std::vector<Column> columns_;
  std::size_t outside_ = 0;
};

/// The list of records.
Status read_records(const Element& root, ProfileBuilder& builder, Diagnostics& diags) {
  Array records;
  if (root.get(records)) return diags.error("neither {\"data\": …, \"nodes\": …} nor a list of records");
  std::map<std::string, std::size_t, std::less<>> regions;
  std::int64_t index = 0;
  for (const Element e : records) {
    Object record;
    if (e.get(record)) return diags.error({.node = index}, {}, "a record is no object");
    ++index;
    const std::string_view path = json::text(json::member(e, "path")).value_or("(outside of regions)");
    std::size_t region = 0;
    for (std::size_t end = 0; end != std::string_view::npos && !path.empty();) {
      end = path.find('/', end + 1);
      const std::string_view prefix = path.substr(0, std::min({end, path.size(), ProfileBuilder::kMaxName}));
      const auto [at, fresh] = regions.try_emplace(std::string(prefix), 0);
      if (fresh) at->second = builder.region(prefix.substr(prefix.rfind('/') + 1), region);
      region = at->second;
      if (end >= ProfileBuilder::kMaxName) break;
    }
    for (const auto [key, value] : record) {
      if (key == "path" || is_label(key)) continue;
      if (const auto v = number_in(value)) builder.add(region, builder.metric(metric_of(key, {})), *v);
    }
  }
  return ok();
}

}  // namespace

bool sniff_caliper(const ProfileFiles& files) {
  if (files.files.size() != 1) return false;
  const std::string_view bytes = files.files.front().bytes;
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  if (bytes[first] == '{') {
    return bytes.find("\"column_metadata\"") != std::string_view::npos ||
           bytes.substr(first, 64).find("\"data\"") != std::string_view::npos;
  }
  return bytes[first] == '[' && bytes.substr(first, 4096).find('{') != std::string_view::npos;
}

Result<Profile> read_caliper(const ProfileFiles& files, Diagnostics& diags) {
  ProfileBuilder builder(files.path, "caliper-json");
  const auto document = json::Document::parse(files.files.front().bytes, diags);
  if (!document) return Failure{};
  const Element root = document->root();
  const bool split = json::member(root, "data").has_value();
  if (!(split ? SplitReader(builder, diags).read(root) : read_records(root, builder, diags))) return Failure{};
  return builder.finish(diags);
}

}  // namespace perfc
