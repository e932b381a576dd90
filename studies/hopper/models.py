"""Language models of sizes that people serve, with random weights: factories for lists (python -m perfc.export)."""
import torch


class Logits(torch.nn.Module):
    """What traces know: a tensor for a tensor."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, tokens):
        return self.model(tokens).logits


def _tokens(batch_of_one, vocabulary):
    return torch.randint(0, vocabulary, (1, batch_of_one))


def _causal(kind, config, length):
    import transformers
    config = getattr(transformers, config[0])(**config[1], use_cache=False)
    return Logits(getattr(transformers, kind)(config)), (_tokens(length, config.vocab_size),)


def llama_1b():
    """The shape of meta-llama/Llama-3.2-1B's config.json."""
    return _causal("LlamaForCausalLM", ("LlamaConfig", dict(
        vocab_size=128256, hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
        num_key_value_heads=8, head_dim=64, max_position_embeddings=8192, tie_word_embeddings=True)), 512)


def qwen3_600m():
    """The shape of Qwen/Qwen3-0.6B's config.json."""
    return _causal("Qwen3ForCausalLM", ("Qwen3Config", dict(
        vocab_size=151936, hidden_size=1024, intermediate_size=3072, num_hidden_layers=28, num_attention_heads=16,
        num_key_value_heads=8, head_dim=128, max_position_embeddings=8192, tie_word_embeddings=True)), 512)


def gpt2_medium():
    """The shape of openai-community/gpt2-medium's config.json."""
    return _causal("GPT2LMHeadModel", ("GPT2Config", dict(n_embd=1024, n_layer=24, n_head=16)), 512)


def pythia_410m():
    """The shape of EleutherAI/pythia-410m's config.json."""
    return _causal("GPTNeoXForCausalLM", ("GPTNeoXConfig", dict(
        vocab_size=50304, hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16,
        rotary_pct=0.25, max_position_embeddings=2048)), 512)
