#include "whitebox/launch/norm_statistics.h"

#include "whitebox/constants/batch_norm.h"

namespace perfc {

std::optional<NormStatistics> norm_statistics(const PlannedGraph& of, NodeId id) {
  const Node& n = of.node(id);
  const bool groups = n.is(op("nn.group_norm"));
  if (!groups && !n.is(op("nn.instance_norm"))) return std::nullopt;
  const Type& data = of.g.type(n.operands[0]);
  if (of.config.task == Task::Train || !def(of.config.runtime).autocast || !data.is_static() || data.rank() < 2)
    return std::nullopt;
  const auto images = static_cast<double>(data.shape()[0].value());
  const auto channels = static_cast<double>(data.shape()[1].value());
  const auto given = static_cast<double>(n.attrs.int_or("num_groups", n.attrs.int_or("groups", 1)));
  const double rows = images * (groups ? given : channels);
  if (rows <= 0 || *data.elements() == 0) return std::nullopt;
  return NormStatistics{rows, static_cast<double>(*data.elements()) / rows};
}

void limit_statistics(const NormStatistics& s, double width, Kernel& kernel) {
  // As many blocks as an SM holds take turns while each of them waits.
  kernel.limits.byte_clocks =
      constants::kStatisticsClocks / constants::kStatisticsThreads / constants::kStatisticsHeld / width;
  kernel.limits.blocks = s.rows;
  kernel.limits.busy_cached = kernel.limits.busy_missed = constants::kStatisticsHeld;
}

}  // namespace perfc
