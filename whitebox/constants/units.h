#pragma once
/// Units that others are counted in.
/// [Sources]: whitebox/constants/README.md.

namespace perfc::constants {

inline constexpr double kBytesPerMib = 1024.0 * 1024.0;  ///< byte/MiB
inline constexpr double kFlopsOfTeraflop = 1e12;         ///< FLOP/TFLOP
/// Byte of a position that pooling keeps: int64, PyTorch's indices. [counted]
inline constexpr double kIndexBytes = 8;
/// Byte of a dropped or kept element: bool. [counted]
inline constexpr double kMaskBytes = 1;

}  // namespace perfc::constants
