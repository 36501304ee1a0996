"""The data sets that streams read. Facts about files, as their publishers give them."""

from merlin_cl.errors import unknown
from merlin_cl.streams.catalogue.entry import Download, Entry, Published

MNIST_NAMES = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")


def _idx(folder: str, bases: tuple[str, ...], facts: tuple[tuple[int, str], ...]) -> tuple[Download, ...]:
    """The four files of a set in the form of MNIST; `facts` are the size and the md5 of each."""
    return tuple(
        Download(
            f"{folder}/{name}-ubyte.gz", tuple(f"{base}{name}-ubyte.gz" for base in bases), size, checksum=f"md5:{md5}"
        )
        for name, (size, md5) in zip(MNIST_NAMES, facts, strict=True)
    )


def _as_published(downloads: tuple[Download, ...]) -> tuple[Published, ...]:
    """Files that stay as they are fetched."""
    return tuple(Published(one.file.rpartition("/")[2], one.checksum) for one in downloads if one.checksum)


def _md5(**files: str) -> tuple[Published, ...]:
    return tuple(Published(name.replace("__", "."), f"md5:{digest}") for name, digest in files.items())


MNIST_FILES = _idx(
    "MNIST/raw",
    (
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
        "http://yann.lecun.com/exdb/mnist/",
    ),
    (
        (9_912_422, "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
        (28_881, "d53e105ee54ea40749a09fcbcd1e9432"),
        (1_648_877, "9fb629c4189551a2d022fa330f9573f3"),
        (4_542, "ec29112dd5afa0611ce80d1b7f02629c"),
    ),
)
FASHION_FILES = _idx(
    "FashionMNIST/raw",
    (
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",
    ),
    (
        (26_421_880, "8d4fb7e6c68d591d4c3dfef9ec88bf0d"),
        (29_515, "25c81989df183df01b3e8a0aad5dffbe"),
        (4_422_102, "bef4ecab320f06d8554ea6380940ec79"),
        (5_148, "bb300cfdad3c16e7a12a480ee83cd310"),
    ),
)

ENTRIES = (
    Entry(
        "mnist",
        "MNIST",
        "CC BY-SA 3.0",
        folders=("MNIST/raw", "mnist", "."),
        signs=("train-*-ubyte", "train-*-ubyte.[gx]z", "t10k-*-ubyte", "t10k-*-ubyte.[gx]z"),
        downloads=MNIST_FILES,
        published=_as_published(MNIST_FILES),
    ),
    Entry(
        "fashion-mnist",
        "Fashion-MNIST",
        "MIT",
        folders=("FashionMNIST/raw", "FashionMNIST", "fashion-mnist"),
        signs=("train-*-ubyte", "train-*-ubyte.gz", "t10k-*-ubyte", "t10k-*-ubyte.gz"),
        downloads=FASHION_FILES,
        published=_as_published(FASHION_FILES),
    ),
    Entry(
        "cifar10",
        "CIFAR-10",
        "none stated; for research, cite Krizhevsky 2009",
        folders=("cifar-10-batches-py", "."),
        signs=("data_batch_[1-5]", "test_batch"),
        downloads=(
            Download(
                "cifar-10-python.tar.gz",
                (
                    "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
                    "http://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
                ),
                170_498_071,
                checksum="md5:c58f30108f718f92721af3b95e74349a",
                unpack_into=".",
            ),
        ),
        published=_md5(
            data_batch_1="c99cafc152244af753f735de768cd75f",
            data_batch_2="d4bba439e000b95fd0a9bffe97cbabec",
            data_batch_3="54ebc095f3ab1f0389bbae665268c751",
            data_batch_4="634d18415352ddfa80567beed471001a",
            data_batch_5="482c414d41f54cd18b22e5b47cb7c3cb",
            test_batch="40351d587109b95175f43aff81a1287e",
        ),
    ),
    Entry(
        "cifar100",
        "CIFAR-100",
        "none stated; for research, cite Krizhevsky 2009",
        folders=("cifar-100-python", "."),
        signs=("train", "test"),
        downloads=(
            Download(
                "cifar-100-python.tar.gz",
                (
                    "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",
                    "http://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",
                ),
                169_001_437,
                checksum="md5:eb9058c3a382ffc7106e4002c42a8d85",
                unpack_into=".",
            ),
        ),
        published=_md5(train="16019d7e3df5f24257cddd939b257f8d", test="f0ef6b0ae62326f3e7ffdfab6717acfc"),
    ),
)


def entry(name: str) -> Entry:
    """A data set by its name."""
    for one in ENTRIES:
        if one.name == name:
            return one
    raise unknown("data set", name, [one.name for one in ENTRIES])
