#pragma once
/// Operators of torch.export that run a graph of their own several times: as eager PyTorch does, round by round.
#include "frontends/torch/call.h"

namespace perfc::torch {

/// while_loop(cond, body, carried, extra): as long as it is known at import whether another round follows.
Result<std::vector<Value>> while_loop(Call& c);
/// scan(combine, init, xs, extra): over the first dim of xs; results are the last carried values, then stacks.
Result<std::vector<Value>> scan(Call& c);
/// map_impl(body, xs, extra): over the first dim of xs; results are stacks.
Result<std::vector<Value>> map_over(Call& c);

/// torch.vmap, as torch.export writes it around what it maps (also that of associative_scan): between these calls every
/// tensor that is mapped has a dim in front for each vmap that is nested here, the outermost first, of extent 1 where
/// that one does not map it. Operators that count dims from the front see other ones; where that shows, the call that
/// ends it fails.
inline constexpr std::string_view kEnterVmap = "torch._functorch.predispatch._vmap_increment_nesting",
                                  kLeaveVmap = "torch._functorch.predispatch._vmap_decrement_nesting";
Result<std::vector<Value>> enter_vmap(Call& c);
Result<std::vector<Value>> leave_vmap(Call& c);
/// (x, dim, level).
Result<std::vector<Value>> add_batch_dim(Call& c);
/// (x, level, size, dim).
Result<std::vector<Value>> remove_batch_dim(Call& c);

}  // namespace perfc::torch
