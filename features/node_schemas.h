#pragma once
/// The schemas' tables of columns: `perfc-op` and DIPPM's, arXiv 2303.11733.
#include "features/schema.h"

namespace perfc {

const std::vector<Column>& dippm_columns();
void dippm_row(const Graph&, NodeId, std::span<double> row);

const std::vector<Column>& op_columns();
void op_row(const Graph&, NodeId, std::span<double> row);

}  // namespace perfc
