#pragma once
/// What a program asks of a tensor beside its values: sizes, element type, device. Sizes follow the tensor: those that
/// are not known leave IR nodes behind where they are used.
#include "frontends/torch/call.h"

namespace perfc::torch::python {

/// All dims as a list, or the one that the second argument names.
Values size(Call& c);
Values rank_of(Call& c);
Values numel(Call& c);
/// torch's number of the element type.
Values dtype_fact(Call& c);
Values device_fact(Call& c);
/// Of a device: predictions are of GPUs.
Values device_type(Call& c);
Values layout_fact(Call& c);
Values is_floating_point(Call& c);
Values is_complex(Call& c);
/// Contents of a vector as a list; they must be known when importing.
Values tensor_to_list(Call& c);

}  // namespace perfc::torch::python
