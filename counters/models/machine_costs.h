#pragma once
/// Costs (cost_model.h) of all machines of a problem.
#include <vector>

#include "counters/models/cost_model.h"
#include "counters/models/relative_model.h"

namespace perfc {

/// Per kind of work of a dataset, whether costs are fitted to it.
using WorkKinds = std::vector<bool>;
WorkKinds all_work(const CounterDataset&);
/// What the program does, wherever it runs: kinds whose name has no word "seconds", which are times on the machine
/// where it was profiled.
WorkKinds work_of_the_program(const CounterDataset&);

/// One per machine of the problem. Where its data sheet tells a cost, the fit begins there and is pulled to it.
std::vector<MachineCosts> fit_machine_costs(const CounterProblem&, std::span<const std::size_t> rows, double sharpness,
                                            const WorkKinds&);
/// Rows × machines, ln of seconds.
FeatureMatrix predict_log_seconds(std::span<const MachineCosts>, const CounterProblem&,
                                  std::span<const std::size_t> rows);
/// ln of seconds → what `CounterProblem::target` holds: less the reference's, else less their own mean.
FeatureMatrix relative_to_base(const CounterProblem&, std::span<const std::size_t> rows, FeatureMatrix log_seconds);

/// Sum of absolute errors of logarithms: the mean square would be ruled by a few that nobody can predict.
double absolute_error(const FeatureMatrix& target, const FeatureMatrix& prediction);
/// y, and so much of the way to z.
FeatureMatrix between(FeatureMatrix y, const FeatureMatrix& z, double share);
/// Adds rows.
void append(FeatureMatrix& to, const FeatureMatrix& more);
/// Of 1, 2 and 4, the sharpness that errs least on what is held back.
double choose_sharpness(const CounterProblem&, std::span<const std::size_t> rows,
                        const std::vector<std::vector<std::size_t>>& folds, const WorkKinds&);

}  // namespace perfc
