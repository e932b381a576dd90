#!/usr/bin/env python3
"""Writes tests/fixtures/sigma_vae.json: the σ-VAE's terms and gradients as PyTorch computes
them, for tests/unit/sigma_vae_test.cpp. Run once, when the model changes:

  python -m pip install torch==2.13.0
  python tests/oracle/vae_fixtures.py

Inputs and weights are multiples of 1/64; results are in double. The loss is the mean over
rows of 1 × reconstruction + 0.25 × KL, plus (z × upstream).sum().
"""
import json
import pathlib

import torch
import torch.nn.functional as F
from torch import nn

FILE = pathlib.Path(__file__).resolve().parent.parent / "fixtures" / "sigma_vae.json"
ROWS, INPUTS, HIDDEN, LATENT = 6, 5, 7, 3
KL_WEIGHT = 0.25


class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.ModuleDict({"hidden": nn.Linear(INPUTS, HIDDEN)})
        self.mean, self.log_variance = nn.Linear(HIDDEN, LATENT), nn.Linear(HIDDEN, LATENT)
        self.decoder = nn.ModuleDict({"hidden": nn.Linear(LATENT, HIDDEN), "output": nn.Linear(HIDDEN, INPUTS)})

    def forward(self, x, noise, least):
        hidden = F.relu(self.encoder["hidden"](x))
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        z = mean + torch.exp(log_variance / 2) * noise
        decoded = self.decoder["output"](F.relu(self.decoder["hidden"](z)))
        log_sigma = ((x - decoded) ** 2).mean().sqrt().log()
        log_sigma = least + F.softplus(log_sigma - least)
        likelihood = torch.distributions.Normal(decoded, torch.exp(log_sigma)).log_prob(x)
        prior = torch.distributions.Normal(torch.zeros_like(mean), torch.ones_like(mean))
        posterior = torch.distributions.Normal(mean, torch.exp(log_variance / 2))
        kl = torch.distributions.kl_divergence(posterior, prior).sum(dim=1).mean()
        return z, log_sigma, -likelihood.sum(dim=1).mean(), kl


def draw(generator, *shape):
    return torch.randint(-64, 65, shape, generator=generator).double() / 64


def numbers(tensor):
    return [float(f"{v:.12g}") for v in tensor.detach().flatten().tolist()]


def case(least, seed):
    generator = torch.Generator().manual_seed(seed)
    model = Vae().double()
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(draw(generator, *p.shape))
    x, noise, upstream = draw(generator, ROWS, INPUTS), draw(generator, ROWS, LATENT), draw(generator, ROWS, LATENT)
    z, log_sigma, reconstruction, kl = model(x, noise, least)
    (reconstruction + KL_WEIGHT * kl + (z * upstream).sum()).backward()
    return {
        "least_log_sigma": least,
        "x": numbers(x),
        "noise": numbers(noise),
        "upstream": numbers(upstream),
        "z": numbers(z),
        "log_sigma": log_sigma.item(),
        "reconstruction": reconstruction.item(),
        "kl": kl.item(),
        "parameters": {k: {"value": numbers(p), "gradient": numbers(p.grad)} for k, p in model.named_parameters()},
    }


def main():
    # The second floor is above the optimal ln σ, so that the softness shows.
    fixture = {
        "torch": torch.__version__, "rows": ROWS, "inputs": INPUTS, "hidden": HIDDEN, "latent": LATENT,
        "kl_weight": KL_WEIGHT, "cases": [case(-6.0, 1), case(0.5, 2)]
    }
    FILE.write_text(json.dumps(fixture, separators=(",", ":")).replace(',"', ',\n"') + "\n")


if __name__ == "__main__":
    main()
