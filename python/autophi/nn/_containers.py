"""Lists and dicts of modules, as submodules: "blocks.0.up.weight"."""

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView

from autophi._autophi.nn import Module


class ModuleList(Module):
    """Modules by index: self.blocks = nn.ModuleList([Block() for _ in range(4)])."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        self._order: list[Module] = []
        for module in modules:
            self.append(module)

    def append(self, module: Module) -> "ModuleList":
        """Append a module and return the list."""
        self.add_module(str(len(self._order)), module)
        self._order.append(module)
        return self

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._order)

    def __getitem__(self, index: int) -> Module:
        return self._order[index]


class ModuleDict(Module):
    """Modules by name: self.heads = nn.ModuleDict({"a": nn.Linear(8, 2), "b": nn.Linear(8, 3)})."""

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] = ()) -> None:
        super().__init__()
        self._named: dict[str, Module] = {}
        for name, module in dict(modules).items():
            self[name] = module

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)
        self._named[name] = module

    def __getitem__(self, name: str) -> Module:
        return self._named[name]

    def __len__(self) -> int:
        return len(self._named)

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __contains__(self, name: object) -> bool:
        return name in self._named

    def keys(self) -> KeysView[str]:
        """Return the names, in insertion order."""
        return self._named.keys()

    def values(self) -> ValuesView[Module]:
        """Return the modules, in insertion order."""
        return self._named.values()

    def items(self) -> ItemsView[str, Module]:
        """Return (name, module) pairs, in insertion order."""
        return self._named.items()
