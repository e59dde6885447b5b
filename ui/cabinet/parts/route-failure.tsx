import { useRouteError } from "react-router";
import { Failure } from "./states";

/** A page that could not be loaded or drawn; the menu stays. */
export function RouteFailure() {
  return <Failure error={useRouteError()} again={() => window.location.reload()} />;
}
