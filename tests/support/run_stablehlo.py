"""Compiles a StableHLO module with Shardy shardings and runs it on virtual CPU devices, with JAX.

    python run_stablehlo.py MODULE.mlir INPUTS.npz OUTPUTS.npz [--devices=8]

INPUTS.npz holds the whole arrays arg0, arg1, ...; OUTPUTS.npz gets the whole arrays out0, out1, ...
"""

import argparse
import os
from pathlib import Path

import numpy as np


class Runner:
    """Compiles and runs modules for one number of devices; JAX takes it once per process."""

    def __init__(self, devices):
        # Each module runs once, on few numbers: to optimise it takes longer than to run it.
        os.environ["XLA_FLAGS"] = (f"--xla_force_host_platform_device_count={devices} --xla_backend_optimization_level=0 "
                                   "--xla_llvm_disable_expensive_passes=true")
        os.environ["JAX_PLATFORMS"] = "cpu"
        os.environ["JAX_ENABLE_X64"] = "1"  # int64 and float64 stay what they are
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # no advice on efficiency
        import jax
        import jax.extend

        self.jax = jax
        self.devices = jax.devices()[:devices]
        self.backend = jax.extend.backend.get_backend()

    def run(self, module, inputs):
        """The module's outputs as whole arrays."""
        program = self._compile(module)
        gspmd = self._sharding_type()
        places = [gspmd(self.devices, s) for s in program.get_parameter_shardings()]
        placed = [self.jax.device_put(a, s) for a, s in zip(inputs, places, strict=True)]
        results = program.execute_sharded(placed).disassemble_into_single_device_arrays()
        shardings = [gspmd(self.devices, s) for s in program.get_output_shardings()]
        return [self._whole(shards, s) for shards, s in zip(results, shardings, strict=True)]

    def _compile(self, module):
        from jax._src.lib import xla_client

        options = xla_client.CompileOptions()
        options.num_replicas, options.num_partitions = 1, len(self.devices)
        build = options.executable_build_options
        build.use_spmd_partitioning = True
        build.use_shardy_partitioner = True
        build.num_partitions = len(self.devices)
        ranks = np.arange(len(self.devices)).reshape(1, -1)
        options.device_assignment = xla_client.DeviceAssignment.create(ranks)
        devices = xla_client.DeviceList(tuple(self.devices))
        return self.backend.compile_and_load(module, devices, options)

    @staticmethod
    def _sharding_type():
        from jax._src.sharding_impls import GSPMDSharding

        return GSPMDSharding

    @staticmethod
    def _whole(shards, sharding):
        local = shards[0].shape
        tiles = [1] * len(local)
        if not sharding.is_fully_replicated:
            tiles = sharding._hlo_sharding.tile_assignment_dimensions()
        shape = tuple(int(size * n) for size, n in zip(local, tiles))
        whole = np.empty(shape, shards[0].dtype)
        places = sharding.devices_indices_map(shape)
        for shard in shards:
            (device,) = shard.devices()
            whole[places[device]] = np.asarray(shard)
        return whole


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", type=Path)
    parser.add_argument("inputs", type=Path)
    parser.add_argument("outputs", type=Path)
    parser.add_argument("--devices", type=int, default=8)
    args = parser.parse_args()
    held = np.load(args.inputs)
    inputs = [held[f"arg{i}"] for i in range(len(held.files))]
    outputs = Runner(args.devices).run(args.module.read_text(), inputs)
    np.savez(args.outputs, **{f"out{i}": array for i, array in enumerate(outputs)})
    print({f"out{i}": array.shape for i, array in enumerate(outputs)})


if __name__ == "__main__":
    main()
