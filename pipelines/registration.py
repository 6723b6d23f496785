"""The job that registers one model of a watched folder or prefix."""

import dagster as dg

from assets.lake import Lake
from ops.errors import ShiftlakeError


class Watched(dg.Config):
    """Which model.

    Parameters
    ----------
    location : str
        The watched folder or ``s3://`` prefix.
    name : str
        The model's name: that of its YAML file.
    """

    location: str
    name: str


@dg.op(description="Store the weights under their hash, try the network, write its entry.")
def register_model(context: dg.OpExecutionContext, config: Watched, lake: Lake) -> None:
    """Register a model as it lies there now; its evaluation follows by itself.

    Raises
    ------
    dagster.Failure
        With the reason, if it is gone, not complete, or cannot be registered.
    """
    from ops.models.watched import register_watched, watched_models

    found = {model.name: model for model in watched_models(config.location)}
    if config.name not in found:
        raise dg.Failure(f"{config.name} is no longer in {config.location}.", allow_retries=False)
    try:
        entry = register_watched(lake.open(), found[config.name])
    except ShiftlakeError as error:
        raise dg.Failure(str(error), allow_retries=False) from error
    context.log.info(f"{entry.name}: {entry.weights.sha256 if entry.weights else 'no weights'}")


@dg.job(
    description="Register a model of the watched folder; the sensor watched_models asks for it."
)
def register() -> None:
    """One model."""
    register_model()
