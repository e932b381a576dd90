#pragma once
/// Columns as rows: what a column is called, what it means and how its value is computed stand together.
#include <span>
#include <string_view>

#include "features/schema.h"

namespace perfc {

/// A column whose value is computed from a `Source`.
template <class Source>
struct ColumnDef {
  std::string_view name, unit, meaning;
  double (*value)(const Source&);
};

template <class Source, std::size_t N>
void append_columns(const ColumnDef<Source> (&defs)[N], std::vector<Column>& out) {
  for (const auto& d : defs) out.push_back({std::string(d.name), std::string(d.unit), std::string(d.meaning)});
}

/// Writes the values into the first places of `row`; what comes behind them is returned.
template <class Source, std::size_t N>
std::span<double> fill_columns(const ColumnDef<Source> (&defs)[N], const Source& source, std::span<double> row) {
  for (std::size_t i = 0; i < N; ++i) row[i] = defs[i].value(source);
  return row.subspan(N);
}

}  // namespace perfc
