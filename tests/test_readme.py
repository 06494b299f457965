import re
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"


def test_the_code_in_the_readme_runs_and_reaches_its_target(capsys):
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    diagnosis, control = blocks
    exec(compile(diagnosis, str(README), "exec"), {})
    assert "The model does not work" in capsys.readouterr().out
    exec(compile(control, str(README), "exec"), {})
    assert "0.9000, 0.9000" in capsys.readouterr().out


def test_the_readme_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) < 150
