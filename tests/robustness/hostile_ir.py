"""Hostile OpenVINO IR and Keras models: name → (contents, what the diagnostic must say), and small whole ones.

None instead of a text: refusing and importing are both fine, crashing, hanging and eating memory are not."""
import io
import json
import zipfile

HUGE = 1 << 62


# ---- OpenVINO IR

def port(number, dims, precision="FP32"):
    return f'<port id="{number}" precision="{precision}">' + "".join(f"<dim>{d}</dim>" for d in dims) + "</port>"


def layer(number, kind, data="", inputs=(), outputs=((2, 8),), more=""):
    """`inputs`, `outputs`: shapes; ports are numbered through."""
    into = "".join(port(i, s) for i, s in enumerate(inputs))
    out = "".join(port(i + len(inputs), s) for i, s in enumerate(outputs))
    return (f'<layer id="{number}" name="n{number}" type="{kind}" version="opset1">'
            f'{f"<data {data} />" if data else ""}{f"<input>{into}</input>" if into else ""}'
            f'{f"<output>{out}</output>" if out else ""}{more}</layer>')


def parameter(shape="2,8", dims=(2, 8)):
    return layer(0, "Parameter", f'shape="{shape}" element_type="f32"', outputs=[dims])


def edge(source, from_port, to, to_port):
    return f'<edge from-layer="{source}" from-port="{from_port}" to-layer="{to}" to-port="{to_port}" />'


def net(layers, edges, name="net"):
    return f'<net name="{name}" version="11"><layers>{"".join(layers)}</layers><edges>{"".join(edges)}</edges></net>'


RELU = layer(1, "ReLU", inputs=[(2, 8)])
RESULT = layer(2, "Result", inputs=[(2, 8)], outputs=())
CHAIN = [edge(0, 0, 1, 0), edge(1, 1, 2, 0)]


def small_xml():
    """Weights, a convolution, a product, views, an If."""
    body = net([parameter(), RELU, RESULT], CHAIN, "b").replace("<net ", "<{} ").replace("</net>", "</{}>")
    maps = "".join(f'<{p}_port_map><input external_port_id="1" internal_layer_id="0" />'
                   f'<output external_port_id="2" internal_layer_id="2" /></{p}_port_map>' for p in ("then", "else"))
    bodies = body.format(*["then_body"] * 2) + body.format(*["else_body"] * 2)
    weights = 'element_type="f32" shape="{}" offset="0" size="4"'
    return net([
        layer(0, "Parameter", 'shape="1,3,8,8" element_type="f32"', outputs=[(1, 3, 8, 8)]),
        layer(1, "Const", weights.format("4,3,3,3"), outputs=[(4, 3, 3, 3)]),
        layer(2, "Convolution", 'strides="2,2" dilations="1,1" pads_begin="1,1" pads_end="1,1" auto_pad="explicit"',
              [(1, 3, 8, 8), (4, 3, 3, 3)], [(1, 4, 4, 4)]),
        layer(3, "Const", 'element_type="i64" shape="2" offset="0" size="16"', outputs=[(2, )]).replace("FP32", "I64"),
        layer(4, "Reshape", 'special_zero="true"', [(1, 4, 4, 4), (2,)], [(2, 32)]),
        layer(5, "Const", weights.format("32,8"), outputs=[(32, 8)]),
        layer(6, "MatMul", 'transpose_a="false" transpose_b="false"', [(2, 32), (32, 8)]),
        layer(7, "Parameter", 'shape="" element_type="boolean"', outputs=[()]).replace("FP32", "BOOL"),
        layer(8, "If", "", [(), (2, 8)], [(2, 8)], more=maps + bodies),
        layer(9, "Result", inputs=[(2, 8)], outputs=())
    ], [
        edge(0, 0, 2, 0), edge(1, 0, 2, 1), edge(2, 2, 4, 0), edge(3, 0, 4, 1), edge(4, 2, 6, 0), edge(5, 0, 6, 1),
        edge(7, 0, 8, 0), edge(6, 2, 8, 1), edge(8, 2, 9, 0)
    ])


def nested(depth):
    inner = net([parameter(), RELU, RESULT], CHAIN)
    for _ in range(depth):
        body = inner.replace("<net ", "<then_body ", 1)[:-len("</net>")] + "</then_body>"
        inner = net([parameter(), layer(1, "If", inputs=[(2, 8)], more=body), RESULT], CHAIN)
    return inner


def nets():
    good = net([parameter(), RELU, RESULT], CHAIN)
    yield "no-xml", "<net name", "not well-formed XML"
    yield "cut", good[:-20], "not well-formed XML"
    yield "no-layers", '<net name="n" version="11"></net>', "the model has no results"
    yield "other-root", '<model><net name="n" version="11"></net></model>', "an XML file without <net>"
    yield "two-ids", net([parameter(), RELU, RELU, RESULT], CHAIN), "two layers have the id 1"
    yield "edge-to-nowhere", net([parameter(), RELU, RESULT], [*CHAIN, edge(7, 0, 2, 0)]), "a layer that is not there"
    yield "port-to-nowhere", net([parameter(), RELU, RESULT], [*CHAIN, edge(1, 7, 2, 0)]), "a port that is not there"
    yield "cycle", net([parameter(), layer(1, "Add", inputs=[(2, 8)] * 2), RESULT],
                       [edge(0, 0, 1, 0), edge(1, 2, 1, 1), edge(1, 2, 2, 0)]), "feed each other in a circle"
    yield "no-input", net([parameter(), RELU, RESULT], CHAIN[1:]), "takes 1 operands, got 0"
    yield "huge-dims", net([parameter(f"{HUGE},{HUGE}", (HUGE, HUGE)), RELU, RESULT], CHAIN), None
    yield "negative-dim", net([parameter("2,8", (-5, 8)), RELU, RESULT], CHAIN), "a dim of -5"
    yield "many-dims", net([parameter("2,8", (1,) * 100_000), RELU, RESULT], CHAIN), "more than 64 dims"
    yield "deep-bodies", nested(20), "nested deeper than 16"
    yield "deep-elements", "<net name='n' version='11'>" + "<a>" * 100_000, "XML_ELEMENT_DEPTH_EXCEEDED"
    yield "entities", '<!DOCTYPE n [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><net name="&c;" version="11" />', None
    yield "many-layers", net([layer(i, "ReLU", inputs=[(2, 8)]) for i in range(20_000)], []), "takes 1 operands, got 0"


# ---- StableHLO

MLIR = {
    "mlir-no-tensor": ("""module @m {
  func.func @main(%arg0: !tensor<2x3xf32>) -> (tensor<3x2xf32>) {
    %0 = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %1 = stablehlo.add %0, %0 : tensor<3x2xf32>
    return %1 : tensor<3x2xf32>
  }
}
""", "operand 0 is no tensor")
}


# ---- Keras 3

def keras_layer(kind, name, config=None, inbound=None):
    out = {"module": "keras.layers", "class_name": kind, "config": {"name": name, **(config or {})}, "name": name}
    return out if inbound is None else out | {"inbound_nodes": inbound}


def keras_tensor(name, shape=(None, 8)):
    return {
        "class_name": "__keras_tensor__",
        "config": {"shape": list(shape), "dtype": "float32", "keras_history": [name, 0, 0]}
    }


def from_layers(*names):
    return [{"args": [keras_tensor(n) for n in names], "kwargs": {}}]


INPUT = keras_layer("InputLayer", "x", {"batch_shape": [None, 8], "dtype": "float32"}, [])
DENSE = keras_layer("Dense", "d", {"units": 4, "activation": "relu", "use_bias": True}, from_layers("x"))


def functional(*layers, inputs=("x",), outputs=("d",)):
    return {
        "module": "keras.src.models.functional", "class_name": "Functional", "config": {
            "name": "m", "layers": list(layers), "input_layers": [[i, 0, 0] for i in inputs],
            "output_layers": [[o, 0, 0] for o in outputs]
        }
    }


def sequential(*layers):
    return {"module": "keras", "class_name": "Sequential", "config": {"name": "s", "layers": list(layers)}}


def small_config():
    """A model with an activation, a model within it and a sum."""
    inner = sequential(INPUT, keras_layer("Dense", "e", {"units": 4, "activation": "gelu"}))
    return functional(INPUT, DENSE, inner | {"name": "s", "inbound_nodes": from_layers("x")},
                      keras_layer("Add", "a", {}, [{"args": [[keras_tensor("d"), keras_tensor("s")]], "kwargs": {}}]),
                      outputs=("a",))


def packed(config):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("metadata.json", '{"keras_version": "3.0.0"}')
        archive.writestr("config.json", config if isinstance(config, (str, bytes)) else json.dumps(config))
    return out.getvalue()


def within(depth):
    model = sequential(INPUT, keras_layer("ReLU", "r"))
    for i in range(depth):
        model = sequential(INPUT, model | {"name": f"s{i}"})
    return model


def dense(units):
    return functional(INPUT, keras_layer("Dense", "d", {"units": units}, from_layers("x")))


def image_model(kind, config):
    return sequential(keras_layer("InputLayer", "x", {"batch_shape": [None, 8, 8, 3]}), keras_layer(kind, "k", config))


def configs():
    yield "no-json", "{", "malformed JSON"
    yield "a-list", "[]", "config.json holds no model"
    yield "no-config", {"class_name": "Functional"}, "config.json holds no model"
    yield "layers-of-the-wrong-kind", {"class_name": "Functional", "config": {"layers": 3}}, "has no list of layers"
    nobody = DENSE | {"inbound_nodes": from_layers("nobody")}
    yield "unknown-layer-read", functional(INPUT, nobody), "'nobody', which is no layer"
    yield "reads-itself", functional(INPUT, DENSE | {"inbound_nodes": from_layers("d")}), "feed each other in a circle"
    yield "unknown-output", functional(INPUT, DENSE, outputs=("nobody",)), "'nobody', which is no layer"
    yield "negative-units", dense(-4), "an extent of -4"
    yield "huge-units", dense(HUGE), "absurdly many"
    yield "huge-shape", sequential(keras_layer("InputLayer", "x", {"batch_shape": [HUGE, HUGE]}),
                                   keras_layer("Flatten", "f")), "absurdly many"
    yield "many-repeats", sequential(INPUT, keras_layer("RepeatVector", "r", {"n": HUGE})), "absurdly many"
    yield "deep-models", within(200), None
    yield "deep-json", '{"config": ' + "[" * 100_000 + "]" * 100_000 + "}", "nested deeper than 512 levels"
    yield "two-names", functional(INPUT, DENSE, DENSE), "two layers have this name"
    yield "padding", image_model("ZeroPadding2D", {"padding": [[HUGE, HUGE], [-9, 1]]}), "does not fit 2 spatial axes"
    yield "kernel", image_model("Conv2D", {"filters": 0, "kernel_size": [0, -1], "strides": [0]}), "make no sense"


NETS = {name: (text, says) for name, text, says in nets()}
KERAS = {name: (packed(config), says) for name, config, says in configs()}
