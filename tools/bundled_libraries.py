"""Bundles shared libraries and Open MPI with a folder of programs, so that the programs run on other releases of Linux
without an installation.

All libraries that the programs load are bundled, except glibc, libstdc++, libgcc and the driver's libraries. `needs`
returns the oldest sufficient version of these, from the symbol versions that the programs and the bundled libraries
refer to.
"""

import os
import pathlib
import re
import shutil
import subprocess

LIBRARIES = "lib"
MPI = "mpi"  # folder of Open MPI: bin, components, texts
_OF_THE_SYSTEM = re.compile(r"(ld-linux[^.]*|linux-vdso|lib(c|m|mvec|pthread|dl|rt|util|resolv|anl|stdc\+\+|gcc_s|cuda|nvidia-[\w-]+))\.so\b")
_OF_MPI = ("libmca_common_", "libpmix", "libmunge")  # beside what programs of MPI load
_NAMES = {"GLIBC": "glibc", "GLIBCXX": "libstdc++ with GLIBCXX", "CXXABI": "CXXABI", "GCC": "libgcc with GCC"}


class CarryError(Exception):
    """A file that cannot be bundled, and the reason."""


def _output_of(*command):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    except OSError as error:
        raise CarryError(f"{command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        raise CarryError(f"{' '.join(str(word) for word in command)}: {done.stderr.strip()}")
    return done.stdout


def libraries_of(program):
    """(name, path) of each shared library that a program loads, all levels; the path is "not found" where there is none."""
    return re.findall(r"^\s*(\S+) => (not found|/\S+)", _output_of("ldd", program), re.MULTILINE)


def is_of_the_system(name):
    """Whether a program uses the library of the machine that it runs on."""
    return _OF_THE_SYSTEM.match(name) is not None


def copy_stripped(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    _output_of("strip", "--strip-unneeded", "-o", target, pathlib.Path(source).resolve())
    target.chmod(0o755)


def copy_libraries_of(programs, folder):
    """Copies the libraries that programs load into the folder's lib. Errors: CarryError."""
    for program in programs:
        for name, path in libraries_of(program):
            if path == "not found":
                raise CarryError(f"{program.name} needs {name}, which is missing")
            if not is_of_the_system(name) and not (folder / LIBRARIES / name).exists():
                copy_stripped(path, folder / LIBRARIES / name)


def copy_open_mpi(folder):
    """Copies mpirun with the components that load only bundled libraries and Open MPI's own: those of fast networks are left out. Errors:
    CarryError."""
    mpirun = shutil.which("mpirun")
    if not mpirun:
        raise CarryError("the programs use MPI, but mpirun is missing; tools/setup installs it")
    paths = dict(re.findall(r"^path:(pkglibdir|pkgdatadir):(.*)$", _output_of("ompi_info", "--path", "all", "--parsable"), re.MULTILINE))
    copy_stripped(mpirun, folder / MPI / "bin/mpirun")
    copy_libraries_of([folder / MPI / "bin/mpirun"], folder)
    carried = {file.name for file in (folder / LIBRARIES).iterdir()}
    for component in sorted(pathlib.Path(paths["pkglibdir"]).glob("mca_*.so")):
        more = [name for name, _ in libraries_of(component) if not is_of_the_system(name) and name not in carried]
        if all(name.startswith(_OF_MPI) for name in more):
            copy_stripped(component, folder / MPI / "components" / component.name)
            copy_libraries_of([component], folder)
    shutil.copytree(paths["pkgdatadir"], folder / MPI / "texts")


def environment_of(folder, environment):
    """The environment, with the folder's libraries before all others."""
    before = {"LD_LIBRARY_PATH": folder / LIBRARIES}
    if (folder / MPI).exists():
        before["PATH"] = folder / MPI / "bin"
        environment = {**environment, "OMPI_MCA_mca_base_component_path": str(folder / MPI / "components"),
                       "OPAL_PKGDATADIR": str(folder / MPI / "texts"),
                       "OMPI_MCA_plm": "isolated",  # else it ends where there is neither ssh nor rsh
                       "PMIX_MCA_pcompress_base_silence_warning": "1"}
    return {**environment, **{name: ":".join([str(path), *filter(None, [environment.get(name, os.environ.get(name))])])
                              for name, path in before.items()}}


def _number(version):
    return [int(part) for part in version.split(".")]


def needs_of(files):
    """By the names of symbol versions, the newest that the files refer to: {"GLIBC": "2.34", ..}. Errors: CarryError."""
    found = {}
    for file in files:
        for name, version in re.findall(rf"\b({'|'.join(_NAMES)})_(\d+(?:\.\d+)*)$", _output_of("objdump", "-p", file), re.MULTILINE):
            found[name] = max(found.get(name, "0"), version, key=_number)
    return dict(sorted(found.items()))


def needs_text(needs):
    return ", ".join(f"{_NAMES[name]} {version}" for name, version in needs.items())


def programs_and_libraries(folder):
    """All files of machine code in a folder."""
    return [file for file in sorted(folder.rglob("*")) if file.is_file() and not file.is_symlink() and file.read_bytes()[:4] == b"\x7fELF"]
