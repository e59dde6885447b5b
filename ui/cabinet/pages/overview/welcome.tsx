import { SimpleGrid, Stack } from "@mantine/core";
import { hasFeature } from "../../app/session";
import { Begin } from "./begin";
import { BalanceCard, CamerasCard } from "./cards";

/** The overview of an account that has nothing yet. */
export default function Welcome() {
  return (
    <Stack gap="lg">
      <Begin />
      <SimpleGrid cols={{ base: 1, md: hasFeature("vision") ? 2 : 1 }}>
        <BalanceCard />
        {hasFeature("vision") && <CamerasCard />}
      </SimpleGrid>
    </Stack>
  );
}
