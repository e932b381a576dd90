"""Models by name: what a user writes -> a torch.nn.Module and example inputs.

    timm/resnet18            a model of timm
    torchvision/resnet18     a model of torchvision
    transformers/BertModel   a class of transformers with its default configuration, or the folder or hub name of a
                             configuration (transformers/google-bert/bert-base-uncased)
    op/conv2d?n=1,c=64,…     one operator (perfc.export.operators)
    package.module:factory   a function that gives a torch.nn.Module, or (module, example inputs); or a module itself

Weights are never loaded: models are made as their constructors make them.
"""
from __future__ import annotations

import importlib
import inspect
import pathlib
import sys
from dataclasses import dataclass, field

import torch

from .errors import ExportError, blame

TOKENS = 128  # length of the text that a language model gets where its list says nothing


@dataclass
class Model:
    module: torch.nn.Module
    inputs: tuple | None          #: examples; None: the factory gives none
    family: str                   #: architectures of one design share it


@dataclass(frozen=True)
class Entry:
    """A line of a list of models."""
    target: str
    family: str = ""              #: "": what the library says, "-" for factories
    inputs: tuple[str, ...] = field(default=())  #: shapes of examples, as --input

    def model(self, device: str = "cpu") -> Model:
        made = build(self.target, device)
        if self.inputs:
            made.inputs = tuple(parse_input(i).to(device) for i in self.inputs)
        if self.family:
            made.family = self.family
        return made


def parse_input(text: str) -> torch.Tensor:
    """"1,3,224,224" or "1,128:int64"."""
    shape, _, dtype = text.partition(":")
    kind = getattr(torch, dtype or "float32", None)
    try:
        dims = [int(d) for d in shape.split(",")] if shape else []
        if not isinstance(kind, torch.dtype):
            raise ValueError(dtype)
        return torch.zeros(dims, dtype=kind)
    except (ValueError, RuntimeError):
        raise ExportError(f"'{text}' is not DIM,DIM,…[:dtype], such as 1,3,224,224 or 1,128:int64") from None


def read_list(path: str) -> list[Entry]:
    """One model a line: TARGET [family=NAME] [input=DIMS[:DTYPE]]…; '#' begins a comment."""
    entries, seen = [], {}
    for number, line in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        target, family, inputs = words[0], "", []
        for word in words[1:]:
            key, _, value = word.partition("=")
            if key == "family" and value:
                family = value
            elif key == "input" and value:
                try:
                    parse_input(value)
                except ExportError as error:
                    raise ExportError(f"{path}:{number}: {error}") from None
                inputs.append(value)
            else:
                raise ExportError(f"{path}:{number}: '{word}' is neither family=NAME nor input=DIMS[:DTYPE]")
        if not is_target(target):
            raise ExportError(
                f"{path}:{number}: '{target}' is none of timm/NAME, torchvision/NAME, transformers/NAME, module:factory"
            )
        if target in seen:
            raise ExportError(f"{path}:{number}: '{target}' is in line {seen[target]} already")
        seen[target] = number
        entries.append(Entry(target, family, tuple(inputs)))
    if not entries:
        raise ExportError(f"{path}: names no model")
    return entries


def is_target(text: str) -> bool:
    library, slash, name = text.partition("/")
    if slash and library in LIBRARIES:
        return bool(name)
    module, colon, attribute = text.partition(":")
    return bool(module and colon and attribute)


def build(target: str, device: str = "cpu") -> Model:
    library, slash, name = target.partition("/")
    if slash and library in LIBRARIES:
        try:
            with torch.device(device):
                return LIBRARIES[library](name)
        except ModuleNotFoundError as error:
            if error.name and error.name.partition(".")[0] == library:
                raise ExportError(f"the package {library} is not installed: pip install {library}") from None
            raise blame(f"'{target}' cannot be made", error) from None
        except ExportError:
            raise
        except Exception as error:
            raise blame(f"'{target}' cannot be made", error) from None
    return from_factory(target, device)


def _timm(name: str) -> Model:
    import timm
    module = timm.create_model(name, pretrained=False)
    channels, height, width = timm.data.resolve_model_data_config(module)["input_size"]
    return Model(module, (torch.zeros(1, channels, height, width),), _file_of(module))


def _torchvision(name: str) -> Model:
    from torchvision import models
    takes = inspect.signature(models.get_model_builder(name)).parameters
    none = {w: None for w in ("weights", "weights_backbone") if w in takes}  # or it loads those of its own accord
    module = models.get_model(name, **none)
    preset = models.get_model_weights(name).DEFAULT.transforms()
    size = getattr(preset, "crop_size", None) or [224]
    side = size[0] if isinstance(size, (list, tuple)) else size
    shape = (1, 3, 16, side, side) if ".video." in type(module).__module__ else (1, 3, side, side)
    return Model(module, (torch.zeros(shape),), _file_of(module))


def _transformers(name: str) -> Model:
    import transformers
    kind = getattr(transformers, name, None)
    if kind is not None and getattr(kind, "config_class", None):
        module = kind(kind.config_class())
    elif "/" in name or pathlib.Path(name).exists():
        module = transformers.AutoModel.from_config(transformers.AutoConfig.from_pretrained(name))
    else:
        raise ExportError(f"transformers has no model class '{name}'")
    for part in module.modules():  # decoders have a configuration of their own
        if hasattr(getattr(part, "config", None), "use_cache"):
            part.config.use_cache = False
    inputs, family = _transformer_inputs(module), module.config.model_type
    if int(transformers.__version__.partition(".")[0]) < 5:
        module.config.return_dict = False  # traces know tuples
    in_order = [*inspect.signature(module.forward).parameters][:len(inputs)] == [*inputs]
    if module.config.return_dict or not in_order:
        module = _ByName(module, [*inputs])
    return Model(module, tuple(inputs.values()), family)


class _ByName(torch.nn.Module):
    """A model of transformers that takes its inputs in the order of `names`, and gives a tuple, which traces know:
    layers of transformers 5 read each other's results by name, so that `return_dict` must stay as it is."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        out = self.model(**dict(zip(self.names, inputs)))
        return out if isinstance(out, tuple) else out.to_tuple()


def _transformer_inputs(module) -> dict[str, torch.Tensor]:
    """Examples by the names of its parameters."""
    config = module.config
    if module.main_input_name == "pixel_values":
        vision = getattr(config, "vision_config", config)
        side = getattr(vision, "image_size", 224)
        side = side if isinstance(side, int) else side[0]
        return {"pixel_values": torch.zeros(1, getattr(vision, "num_channels", 3), side, side)}
    if module.main_input_name == "input_ids":
        most = getattr(config, "max_position_embeddings", None) or 0  # XLNet: -1, any number
        tokens = torch.zeros(1, min(TOKENS, most) if most > 0 else TOKENS, dtype=torch.int64)
        inputs = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
        return inputs | ({"decoder_input_ids": tokens} if config.is_encoder_decoder else {})
    raise ExportError(f"the model reads '{module.main_input_name}': say its shape with input=")


def _operator(name: str) -> Model:
    from . import operators
    module, inputs = operators.build(name)
    return Model(module, inputs, "operator")


LIBRARIES = {"timm": _timm, "torchvision": _torchvision, "transformers": _transformers, "op": _operator}


def _file_of(module) -> str:
    """"resnet" for a class of timm.models.resnet."""
    return type(module).__module__.rpartition(".")[2]


def from_factory(target: str, device: str) -> Model:
    module_name, _, attribute = target.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        factory = importlib.import_module(module_name)
    except Exception as error:
        raise blame(f"cannot import '{module_name}'", error) from None
    for part in attribute.split("."):
        if not hasattr(factory, part):
            names = ", ".join(n for n in dir(factory) if not n.startswith("_"))
            raise ExportError(f"'{module_name}' has no '{attribute}'; it has {names[:400]}")
        factory = getattr(factory, part)
    made = factory
    if not isinstance(factory, torch.nn.Module):
        if not callable(factory):
            raise ExportError(
                f"'{target}' is of type {type(factory).__name__}; a factory is a function, or a torch.nn.Module")
        try:
            with torch.device(device):
                made = factory()
        except Exception as error:
            raise blame(f"'{target}' failed", error) from None
    examples = None
    if isinstance(made, tuple) and len(made) == 2:
        made, examples = made
        examples = tuple(examples) if isinstance(examples, (list, tuple)) else (examples,)
    if not isinstance(made, torch.nn.Module):
        raise ExportError(f"'{target}' gives an object of type {type(made).__name__}; "
                          "a factory returns a torch.nn.Module, or (module, example inputs)")
    return Model(made, examples, "-")
