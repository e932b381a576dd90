#pragma once
/// Training of the corrected whitebox (learning/corrected.h).
///
/// One network per fold of the families: each leaves its fold out, so that its
/// errors there are errors on families nobody saw. The predictor is the mean of
/// them all, and the 90 % interval comes from those errors (cross-conformal
/// prediction: Vovk, "Cross-conformal predictors", 2015; CV+: Barber et al.,
/// Annals of Statistics 2021). One more network per device leaves that device
/// out; it only tells how wide the interval of unknown devices has to be.
#include "learning/training.h"

namespace perfc {

Result<TrainOutcome> train_corrected(const TrainRequest&, Communicator&, Diagnostics&);
Result<RangeTest> find_corrected_rate(const TrainRequest&, Diagnostics&);

}  // namespace perfc
