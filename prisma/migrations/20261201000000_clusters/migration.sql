-- Side by side: INSERT: it fills a table of this migration, which an older server does not read

-- CreateTable
CREATE TABLE "served_cluster" (
    "name" TEXT NOT NULL,
    "is_home" BOOLEAN NOT NULL DEFAULT true,
    "disabled_at" TIMESTAMPTZ(3),
    "forgotten_at" TIMESTAMPTZ(3),

    CONSTRAINT "served_cluster_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "cluster_rules" (
    "cluster" TEXT NOT NULL,
    "organization_id" UUID NOT NULL,
    "rules" JSONB,
    "version" INTEGER NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "cluster_rules_pkey" PRIMARY KEY ("cluster","organization_id")
);

-- CreateIndex
CREATE INDEX "cluster_rules_organization_id_idx" ON "cluster_rules"("organization_id");

-- AddForeignKey
ALTER TABLE "cluster_rules" ADD CONSTRAINT "cluster_rules_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organization"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What schema.prisma cannot say.

-- Each cluster that this database knows is a home cluster.
INSERT INTO "served_cluster" ("name")
SELECT "name" FROM "cluster"
UNION SELECT "cluster" FROM "resource_claim"
UNION SELECT "cluster" FROM "service_token" WHERE "cluster" IS NOT NULL
UNION SELECT "cluster" FROM "cluster_state";
