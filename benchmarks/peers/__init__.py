"""Runs the reference GPT in Autophi and in PyTorch; `benchmarks/compare` is the command.

reference.py and configurations.py define the comparisons; environment.py, measure.py, processes.py
and rank.py run it; ratios.py and table.py compute and print. torch_*.py and byte_data.py are
PyTorch's side, started with the interpreter of the virtual environment. torch_on_gpu.py and
torch_llama.py are that of steps on a GPU; `benchmarks/torch_on_gpu` is the command.
"""
