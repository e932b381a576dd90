#pragma once
/// `perfc devices calibrate`: a device's constants from measurements on it.
///
/// Measured products do, too: learning/kernel_calibration.h.
///
/// Ten measured models say most of what a data sheet does not: what share of the
/// peaks kernels reach on this device, what a launch and a dispatch cost, and, where
/// labels have energy, what power it draws. Labels of single operators serve as well. The
/// constants are fitted with the predictor in the loop, in logarithms, each pulled
/// towards where it stood; a shift that all of them share is pulled less, because
/// devices differ mostly by one factor. Few labels move them a little, many freely.
#include "learning/calibrated.h"

namespace perfc {

/// Fails on labels of several devices, and where no label can be predicted.
Result<Calibration> calibrate(const CalibrationRequest&, Diagnostics&);

}  // namespace perfc
